#include "ops/operands.h"

namespace bantam::ops {

static_assert(static_cast<int>(kernels::Element::kF32) == static_cast<int>(fb::DType::f32));
static_assert(static_cast<int>(kernels::Element::kF16) == static_cast<int>(fb::DType::f16));
static_assert(static_cast<int>(kernels::Element::kI8) == static_cast<int>(fb::DType::i8));

Verdict check_step_rows(const Site& site, int32_t index) {
  if (index < 0) return corrupt("a required operand is absent");
  const fb::Tensor& t = tensor(site.model, index);
  if (is_constant(t)) return corrupt("an operand that changes with the input is a constant", index);
  if (is_state(t)) return corrupt("a state of sources is not a row of a step", index);
  if (t.type() == fb::DType::i8 && is_fixed(t) != is_static(site.op)) {
    return corrupt("i8 rows with scales beside them and those of static quantization do not mix", index);
  }
  const uint32_t symbol = t.region() == fb::Region::tile ? kTile : site.rows_symbol;
  if (rows_symbol(t) != symbol) return corrupt("the tensor's rows are not the step's rows", index);
  return {};
}

Verdict check_row_input(const Site& site, uint32_t position, uint32_t columns, bool may_be_i8) {
  const int32_t index = operand(site.op.inputs(), position);
  BANTAM_CHECK(check_step_rows(site, index));
  const fb::Tensor& t = tensor(site.model, index);
  if (t.layout() != fb::Layout::rows) return corrupt("the input's layout is not rows", index);
  // Activations are f32 or i8.
  if (t.type() != fb::DType::f32 && !may_be_i8) return corrupt("the input has the wrong type", index);
  if (columns != 0 && width(t) != columns) return corrupt("the input has the wrong width", index);
  return {};
}

Verdict check_vector(const Site& site, int32_t index, uint32_t length, const char* what) {
  if (index < 0) return {};
  const fb::Tensor& t = tensor(site.model, index);
  const bool fits = is_constant(t) && t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows &&
                    t.shape()->size() == 1 && extent(t, 0) == length;
  return fits ? Verdict{} : corrupt(what, index);
}

Verdict check_numbers(const Site& site, int32_t index, fb::DType type, uint32_t length) {
  if (index < 0) return corrupt("constants of static quantization are absent");
  const fb::Tensor& t = tensor(site.model, index);
  const bool fits = is_constant(t) && t.type() == type && t.layout() == fb::Layout::rows && t.shape()->size() == 1 &&
                    extent(t, 0) == length;
  return fits ? Verdict{} : corrupt("constants of static quantization have the wrong type or number", index);
}

}  // namespace bantam::ops
