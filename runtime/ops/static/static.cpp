#include "ops/static/static.h"

#include "linked.h"

#if BANTAM_IF_LINKED(Static)

namespace bantam::ops {
namespace {

/// The squares of a row sum to less than 2^32 * kMaxStaticWidth: with this limit the sum stays far below 2^64.
constexpr uint64_t kMaxEpsilon = uint64_t{1} << 62;

Verdict check_layer_norm(const Site& site, const fb::Epilogue& epilogue, uint32_t columns) {
  const fb::Integer& integer = *site.op.integer();
  if (epilogue.norm() != fb::NormKind::layer) return unsupported("this norm has no static form");
  if (columns > kernels::kMaxStaticWidth) return unsupported("an integer norm takes rows of up to 32,768 numbers");
  if (integer.epsilon() == 0 || integer.epsilon() > kMaxEpsilon) {
    return corrupt("an integer norm's epsilon is 0 or more than 2^62");
  }
  BANTAM_CHECK(check_numbers(site, named_input(site.op, epilogue.gamma()), fb::DType::i16, columns));
  BANTAM_CHECK(check_numbers(site, named_input(site.op, epilogue.beta()), fb::DType::i32, columns));
  if (epilogue.residual() < 0) return {};
  BANTAM_CHECK(check_fixed_rows(site, named_input(site.op, epilogue.residual()), columns));
  return check_numbers(site, named_input(site.op, integer.residual_multiplier()), fb::DType::i16, columns);
}

}  // namespace

Verdict check_fixed_rows(const Site& site, int32_t index, uint32_t columns) {
  BANTAM_CHECK(check_step_rows(site, index));
  const fb::Tensor& t = tensor(site.model, index);
  if (t.layout() != fb::Layout::rows || t.type() != fb::DType::i8)
    return corrupt("the operand is not rows of i8", index);
  if (columns != 0 && width(t) != columns) return corrupt("the operand has the wrong width", index);
  return {};
}

Verdict check_integer(const Site& site, uint32_t columns, bool norm) {
  const fb::Integer& integer = *site.op.integer();
  for (const uint32_t shift :
       {integer.pre_shift(), integer.post_shift(), integer.residual_shift(), integer.norm_shift()}) {
    if (shift > kMaxShift) return corrupt("a shift is more than 31");
  }
  const fb::Epilogue* epilogue = site.op.epilogue();
  if (epilogue == nullptr) return {};
  if (epilogue->activation() != fb::ActivationKind::none || epilogue->gate() >= 0 || epilogue->smooth() >= 0 ||
      epilogue->store_sum()) {
    return corrupt("a statically quantized op takes no activation, gate or smoothing, and stores once");
  }
  if (epilogue->norm() != fb::NormKind::none) {
    return norm ? check_layer_norm(site, *epilogue, columns) : corrupt("this op takes no norm");
  }
  return epilogue->residual() < 0 ? Verdict{} : corrupt("an integer residual without a norm");
}

Verdict check_static_output(const Site& site, uint32_t columns, bool may_be_f32) {
  const int32_t index = operand(site.op.outputs(), 0);
  if (operand(site.op.outputs(), 1) >= 0) return corrupt("a statically quantized op has one output", index);
  if (index < 0 || !may_be_f32 || tensor(site.model, index).type() != fb::DType::f32) {
    return check_fixed_rows(site, index, columns);
  }
  BANTAM_CHECK(check_step_rows(site, index));
  const fb::Tensor& t = tensor(site.model, index);
  const bool fits = t.layout() == fb::Layout::rows && width(t) == columns;
  return fits ? Verdict{} : corrupt("the output has the wrong layout or width", index);
}

uint64_t norm_scratch(const fb::Op& op, uint32_t columns, uint32_t block_rows) {
  return has_norm(op) ? uint64_t{block_rows} * kernels::pad16(columns) * sizeof(int16_t) : 0;
}

void finish_norm(const TileRun& run, const fb::Op& op, uint32_t columns, uint32_t first, uint32_t n) {
  const fb::Epilogue& epilogue = *op.epilogue();
  const fb::Integer& integer = *op.integer();
  const FixedRows y = fixed_tile_rows(run, operand(op.outputs(), 0)).from(first);
  kernels::StaticNorm args = {};
  args.h = reinterpret_cast<int16_t*>(run.scratch);
  args.h_stride = kernels::pad16(columns);
  args.rows = n;
  args.width = columns;
  if (epilogue.residual() >= 0) {
    const FixedRows residual = fixed_tile_rows(run, named_input(op, epilogue.residual())).from(first);
    args.residual = residual.data;
    args.residual_stride = residual.stride;
    args.residual_multiplier = constant<int16_t>(run, named_input(op, integer.residual_multiplier()));
    args.residual_shift = integer.residual_shift();
  }
  args.gamma = constant<int16_t>(run, named_input(op, epilogue.gamma()));
  args.beta = constant<int32_t>(run, named_input(op, epilogue.beta()));
  args.shift = integer.norm_shift();
  args.epsilon = integer.epsilon();
  args.y = y.data;
  args.y_stride = y.stride;
  run.kernels.static_norm(args);
}

}  // namespace bantam::ops

#endif  // BANTAM_IF_LINKED(Static)
