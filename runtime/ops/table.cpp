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

uint32_t find_row(const fb::Op& op) {
  const bool known = op.version() == 1 && count(op.features()) == 0;
  return known ? find_row(op.attributes_type(), op.numerics()) : uint32_t{linked::kOps};
}

const Rule* find_rule(const fb::Op& op) {
  const uint32_t row = find_row(op);
  if (row != linked::kOps) return kRules[row];
  return op.fallback() && !is_known(op.attributes_type()) ? kRules[linked::kOpCopy] : nullptr;
}

}  // namespace bantam::ops
