#include "ops/ops.h"

namespace bantam::ops {
namespace {

const Rule* const kRules[] = {&kEmbed, &kLinear, &kRow, &kSplitHeads, &kAttention, &kPool, &kSlice};

const Rule* rule_of_kind(fb::OpAttributes kind) {
  for (const Rule* rule : kRules) {
    if (rule->kind == kind) return rule;
  }
  return nullptr;
}

}  // namespace

const Rule* find_rule(const fb::Op& op) {
  const bool known = op.version() == 1 && count(op.features()) == 0;
  const Rule* rule = known ? rule_of_kind(op.attributes_type()) : nullptr;
  return rule == nullptr && op.fallback() ? &kCopy : rule;
}

}  // namespace bantam::ops
