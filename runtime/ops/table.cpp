#include "ops/static.h"

namespace bantam::ops {
namespace {

Verdict refuse_op(const Site&) { return not_linked("this build leaves the operator out"); }

constexpr Rule kNotLinked = {fb::OpAttributes::NONE, 0, refuse_op, nullptr, nullptr};

using linked::kFloats;

/// By version, then fb::OpAttributes.
constexpr uint32_t kKinds = 8;
const Rule* const kRules[2][kKinds] = {
    {nullptr, kFloats&& linked::kEmbed ? &kEmbed : &kNotLinked, kFloats&& linked::kLinear ? &kLinear : &kNotLinked,
     kFloats&& linked::kRow ? &kRow : &kNotLinked, kFloats&& linked::kSplitHeads ? &kSplitHeads : &kNotLinked,
     kFloats&& linked::kAttention ? &kAttention : &kNotLinked, kFloats&& linked::kPool ? &kPool : &kNotLinked,
     linked::kSlice ? &kSlice : &kNotLinked},
    {nullptr, linked::kStatic&& linked::kEmbed ? &kStaticEmbed : &kNotLinked,
     linked::kStatic&& linked::kLinear ? &kStaticLinear : &kNotLinked,
     linked::kStatic&& linked::kRow ? &kStaticRow : &kNotLinked,
     linked::kStatic&& linked::kSplitHeads ? &kStaticSplit : &kNotLinked,
     linked::kStatic&& linked::kAttention ? &kStaticAttention : &kNotLinked,
     linked::kStatic&& linked::kPool ? &kStaticPool : &kNotLinked, nullptr}};

}  // namespace

const Rule* find_rule(const fb::Op& op) {
  const auto kind = static_cast<uint32_t>(op.attributes_type());
  if (kind != 0 && kind < kKinds) {
    const bool executed = (op.version() == 1 || is_static(op)) && count(op.features()) == 0;
    return executed ? kRules[is_static(op) ? 1 : 0][kind] : nullptr;
  }
  if (!op.fallback()) return nullptr;
  return linked::kCopy ? &kCopy : &kNotLinked;
}

}  // namespace bantam::ops
