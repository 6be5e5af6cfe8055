#include "ops/ops.h"

namespace bantam::ops {
namespace {

Verdict refuse_op(const Site&) { return not_linked("this build leaves the operator out"); }

constexpr Rule kNotLinked = {fb::OpAttributes::NONE, 0, refuse_op, nullptr, nullptr};

/// By fb::OpAttributes.
const Rule* const kRules[] = {nullptr,
                              linked::kEmbed ? &kEmbed : &kNotLinked,
                              linked::kLinear ? &kLinear : &kNotLinked,
                              linked::kRow ? &kRow : &kNotLinked,
                              linked::kSplitHeads ? &kSplitHeads : &kNotLinked,
                              linked::kAttention ? &kAttention : &kNotLinked,
                              linked::kPool ? &kPool : &kNotLinked,
                              linked::kSlice ? &kSlice : &kNotLinked};

}  // namespace

const Rule* find_rule(const fb::Op& op) {
  const auto kind = static_cast<uint32_t>(op.attributes_type());
  const bool known = op.version() == 1 && count(op.features()) == 0 && kind < sizeof(kRules) / sizeof(kRules[0]);
  const Rule* rule = known ? kRules[kind] : nullptr;
  if (rule != nullptr || !op.fallback()) return rule;
  return linked::kCopy ? &kCopy : &kNotLinked;
}

}  // namespace bantam::ops
