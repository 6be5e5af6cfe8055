#include "ops/ops.h"

namespace bantam::ops {
namespace {

constexpr Rule kNotLinked = {};

/// The rules of the operators in kFacts, in the same order.
struct Rules {
  const Rule* rows[kLinkedOps == 0 ? 1 : kLinkedOps];
};
constexpr Rules linked_rules() {
  Rules rules = {};
  [[maybe_unused]] uint32_t n = 0;
#define BANTAM_OP(name, ...) \
  if constexpr (linked::op(linked::kOp##name)) rules.rows[n++] = &k##name;
#include "ops/ops.inc"
#undef BANTAM_OP
  return rules;
}
constexpr Rules kRules = linked_rules();

/// Returns true if every kind of operator has a row in kFacts; is_known relies on it.
constexpr bool every_kind_has_a_row() {
  for (uint32_t kind = 1; kind <= static_cast<uint32_t>(fb::OpAttributes::MAX); ++kind) {
    bool found = false;
    for (uint32_t row = 0; row < kLinkedOps; ++row) found |= kFacts[row].kind == static_cast<fb::OpAttributes>(kind);
    if (!found) return false;
  }
  return true;
}
static_assert(!linked::kEveryOp || every_kind_has_a_row());

bool is_this_version(const fb::Op& op) { return op.version() == 1 && count(op.features()) == 0; }

}  // namespace

uint32_t find_row(const fb::Op& op) {
  return is_this_version(op) ? find_row(op.attributes_type(), op.numerics()) : uint32_t{linked::kOps};
}

const Rule* find_rule(const fb::Op& op) {
  const uint32_t row = find_row(op);
  if (row != linked::kOps) return kRules.rows[row];
  if (is_known(op.attributes_type())) return !linked::kEveryOp && is_this_version(op) ? &kNotLinked : nullptr;
  if (!op.fallback()) return nullptr;
  if constexpr (linked::op(linked::kOpCopy)) return &kCopy;
  return &kNotLinked;
}

}  // namespace bantam::ops
