// Linear in integer arithmetic: requantizes its sums, directly, through a table or through a norm; or computes the
// logits.
#include "ops/more/globals.h"
#include "ops/parts.h"
#include "ops/static/static.h"
#include "ops/weights.h"

namespace bantam::ops {
namespace {

/// Entries of a table for i8 numbers.
constexpr uint32_t kTableSize = 256;

Verdict verify_static_linear(const Site& site) {
  const int32_t weights = operand(site.op.inputs(), 1);
  const fb::Tensor& w = tensor(site.model, weights);
  if (!is_constant(w) || !(int8_weights(w) || sparse_weights(w))) return corrupt("the weights are not int8", weights);
  const uint32_t n = extent(w, 0);
  const uint32_t k = extent(w, 1);
  if (k > kMaxLinearK) return unsupported("an int8 layer has more than 131,071 inputs", weights);
  if (n > kMaxWidth) return unsupported("a layer has too many outputs", weights);
  if (site.op.attributes_as_Linear()->saturations() != 0) return corrupt("static quantization has no weights of terms");
  if (only_globals(*site.op.attributes_as_Linear()))
    return unsupported("integers of global tokens alone are not executed");
  BANTAM_CHECK(check_fixed_rows(site, operand(site.op.inputs(), 0), k));
  BANTAM_CHECK(check_integer(site, n, true));
  const int32_t bias = operand(site.op.inputs(), 2);
  if (bias >= 0) BANTAM_CHECK(check_numbers(site, bias, fb::DType::i32, n));
  const fb::Integer& integer = *site.op.integer();
  const bool norm = has_norm(site.op);
  BANTAM_CHECK(check_static_output(site, n, !norm));
  const bool f32 = stores_f32(site.model, site.op);
  BANTAM_CHECK(
      check_numbers(site, named_input(site.op, integer.multiplier()), f32 ? fb::DType::f32 : fb::DType::i16, n));
  if (integer.table() < 0) return {};
  if (f32 || norm) return corrupt("a table stands before i8 outputs only");
  return check_numbers(site, named_input(site.op, integer.table()), fb::DType::i8, kTableSize);
}

/// Bytes of the rows before the norm, rounded up to 64; after them comes the kernel's scratch for sparse weights.
uint64_t rows_scratch(const fb::Op& op, const fb::Tensor& w, uint32_t rows) {
  return round_up(norm_scratch(op, extent(w, 0), rows), 64);
}

uint64_t static_linear_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  const fb::Tensor& w = tensor(model, operand(op.inputs(), 1));
  const uint32_t rows = linked::kHost ? need.linear_rows : need.block_rows;
  if (!sparse_weights(w)) return norm_scratch(op, extent(w, 0), rows);
  return rows_scratch(op, w, rows) + SparseBlocks::scratch(extent(w, 1));
}

/// Rows before a norm that are computed at a time: as many as the kernel reads weights for once.
uint32_t rows_before_norm(const TileRun& run, const fb::Tensor& w) {
  return linear_rows(run, sparse_weights(w) ? SparseBlocks::rows(run.kernels, extent(w, 1)) : run.kernels.linear_rows);
}

/// Passes the addresses of sparse weights to the kernel.
template <class Layer>
void bind_sparse(const TileRun& run, const fb::Op& op, const fb::Tensor& w, Layer* args) {
  if constexpr (linked::kSparse) {
    if (!sparse_weights(w)) return;
    SparseBlocks::bind(w, args);
    args->scratch = reinterpret_cast<int8_t*>(run.scratch + rows_scratch(op, w, rows_before_norm(run, w)));
  }
}

Status run_static_linear(const TileRun& run, const fb::Op& op) {
  const fb::Tensor& w = tensor(run.model, operand(op.inputs(), 1));
  const fb::Integer& integer = *op.integer();
  const uint32_t n = extent(w, 0);
  const FixedRows x = fixed_tile_rows(run, operand(op.inputs(), 0));
  kernels::StaticLinear args = {};
  args.x_stride = x.stride;
  args.w = blob<int8_t>(run, w.data());
  args.w_sum = blob<int32_t>(run, w.sums());
  args.k = kernels::pad4(extent(w, 1));
  args.n = kernels::pad16(n);
  args.requantise = {constant<int32_t>(run, operand(op.inputs(), 2)), nullptr, integer.pre_shift(), 0};
  args.y_stride = args.n;
  args.k16 = w.layout() == fb::Layout::k16n1;
  args.fits_words = w.fits_words();
  bind_sparse(run, op, w, &args);
  const bool norm = has_norm(op);
  if (stores_f32(run.model, op)) {
    args.y_f32 = tile_rows(run, operand(op.outputs(), 0)).f32();
    args.scale = constant<float>(run, named_input(op, integer.multiplier()));
  } else {
    args.requantise.multiplier = constant<int16_t>(run, named_input(op, integer.multiplier()));
    args.requantise.post_shift = integer.post_shift();
    args.table = constant<int8_t>(run, named_input(op, integer.table()));
    if (norm) {
      args.y16 = reinterpret_cast<int16_t*>(run.scratch);
    } else {
      args.y8 = fixed_tile_rows(run, operand(op.outputs(), 0)).data;
    }
  }
  const uint32_t most = norm ? rows_before_norm(run, w) : run.rows;
  const bool shared = run.helpers != nullptr && has_parts(w);
  bool all_run = true;
  for (uint32_t first = 0; first < run.rows; first += args.rows) {
    args.rows = run.rows - first < most ? run.rows - first : most;
    args.x = x.from(first).data;
    if (shared) {
      multiply_parts(*run.helpers, run.kernels.static_linear, args, &all_run);
    } else {
      run.kernels.static_linear(args);
    }
    if (norm) finish_norm(run, op, n, first, args.rows);
  }
  return all_run ? Status::kOk : Status::kInvalidArgument;
}

}  // namespace

BANTAM_RULE(StaticLinear, verify_static_linear, static_linear_scratch, run_static_linear);

}  // namespace bantam::ops
