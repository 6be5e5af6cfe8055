#include "ops/ops.h"

namespace bantam::ops {
namespace {

constexpr Rule kNotLinked = {};

const Rule* const kRules[] = {
#define BANTAM_OP(name, ...) linked::op(linked::kOp##name) ? &k##name : &kNotLinked,
#include "ops/ops.inc"
#undef BANTAM_OP
};

}  // namespace

const Rule* find_rule(const fb::Op& op) {
  const uint32_t row = find_row(executed(op));
  if (row != linked::kOps) return kRules[row];
  return op.fallback() && !is_known(op.attributes_type()) ? kRules[linked::kOpCopy] : nullptr;
}

}  // namespace bantam::ops
