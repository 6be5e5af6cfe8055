// Linear: y = epilogue(x transpose(W) + b), with int8, sparse, int4 or float weights.
#include <string.h>

#include "ops/epilogue.h"
#include "ops/more/globals.h"
#include "ops/more/listed.h"
#include "ops/more/terms.h"
#include "ops/parts.h"
#include "ops/weights.h"

namespace bantam::ops {
namespace {

/// Bytes of one row in LinearQ8::row_maximum.
constexpr uint32_t kRowMaximumBytes = 16 * sizeof(int32_t);

Verdict verify_linear(const Site& site) {
  const int32_t weights = operand(site.op.inputs(), 1);
  const fb::Tensor& w = tensor(site.model, weights);
  if (!is_constant(w) || w.shape()->size() != 2) return corrupt("the weights are not a constant matrix", weights);
  const bool q8 = integer_weights(w);
  if (is_fixed(w) || (!q8 && w.layout() != fb::Layout::tile_n16)) {
    return corrupt("the weights are not laid out in tiles, or have no scales", weights);
  }
  if (q8 ? !linked::kDynamic : !linked::kFloat || (!linked::kHalf && w.type() == fb::DType::f16)) {
    return not_linked("this build leaves out layers with these weights");
  }
  const uint32_t n = extent(w, 0);
  const uint32_t k = extent(w, 1);
  if (q8 && k > kMaxLinearK) return unsupported("an int8 layer has more than 131,071 inputs", weights);
  if (n > kMaxWidth) return unsupported("a layer has too many outputs", weights);
  const fb::Linear& layer = *site.op.attributes_as_Linear();
  if (!linked::kTerms && layer.saturations() != 0) return not_linked("this build leaves out weights of terms");
  if (layer.sum_terms() && layer.saturations() == 0) return corrupt("sums are of terms alone");
  bool terms = false;
  if constexpr (linked::kTerms) {
    terms = makes_terms(layer);
    if (terms) BANTAM_CHECK(check_terms(site, k, q8));
  }
  if (!terms) BANTAM_CHECK(check_row_input(site, 0, k, q8));
  const int32_t x = operand(site.op.inputs(), 0);
  if (q8 != (tensor(site.model, x).type() == fb::DType::i8)) return corrupt("int8 weights want int8 inputs", x);
  BANTAM_CHECK(
      check_vector(site, operand(site.op.inputs(), 2), n, "the bias is not an f32 vector of the outputs' width"));
  if constexpr (linked::kGlobals) {
    if (only_globals(layer)) {
      BANTAM_CHECK(check_globals(site));
      const bool plain = has_no_epilogue(site.op) && operand(site.op.outputs(), 1) < 0;
      if (!plain) return corrupt("a layer of global tokens alone has no epilogue, and leaves f32 rows");
    }
  }
  return check_epilogue(site, n);
}

/// Returns true if the maxima of a block's rows are measured while the rows are computed.
bool measures_rows(const fb::Tensor& weights, const fb::Op& op) {
  return integer_weights(weights) && stores_q8_only(op, extent(weights, 0));
}

/// Bytes after the rows themselves: the maxima of the rows; then comes the kernel's scratch for weights other than
/// int8 tiles.
uint64_t row_maximum_bytes(const fb::Tensor& weights, const fb::Op& op, uint32_t block_rows) {
  return measures_rows(weights, op) ? block_rows * kRowMaximumBytes : 0;
}

uint64_t linear_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  const fb::Tensor& w = tensor(model, operand(op.inputs(), 1));
  const uint32_t rows = linked::kHost ? need.linear_rows : need.block_rows;
  if constexpr (linked::kTerms) {
    if (makes_terms(*op.attributes_as_Linear())) return terms_scratch(w, rows);
  }
  const uint64_t own =
      with_weights(w, [&w](auto format) { return static_cast<uint64_t>(decltype(format)::scratch(extent(w, 1))); });
  return sink_scratch(op, extent(w, 0), rows) + row_maximum_bytes(w, op, rows) + own;
}

/// Rows that are multiplied at a time.
uint32_t rows_together(const TileRun& run, const fb::Tensor& w) {
  if (!integer_weights(w)) return linear_rows(run, run.kernels.linear_rows);
  return linear_rows(run,
                     with_weights(w, [&](auto format) { return decltype(format)::rows(run.kernels, extent(w, 1)); }));
}

Status multiply_rows(const TileRun& run, const fb::Op& op) {
  const fb::Tensor& w = tensor(run.model, operand(op.inputs(), 1));
  const uint32_t n = extent(w, 0);
  const uint32_t padded_n = kernels::pad16(n);
  const uint32_t k = extent(w, 1);
  const float* bias = constant<float>(run, operand(op.inputs(), 2));
  const Rows x = tile_rows(run, operand(op.inputs(), 0));
  const auto activation = op.epilogue() == nullptr ? kernels::Activation::kNone
                                                   : static_cast<kernels::Activation>(op.epilogue()->activation());
  // A back end is slow for small blocks: session/layout.cpp gives it scratch for a whole tile.
  const bool backend = linked::kHost && run.backend != nullptr;
  const uint32_t most_rows = rows_together(run, w);
  const RowSink sink(run, op, n, !backend, backend ? run.rows : linked::kHost ? most_rows : 0);
  int32_t* row_maximum =
      measures_rows(w, op) ? reinterpret_cast<int32_t*>(run.scratch + sink_scratch(op, n, most_rows)) : nullptr;
  kernels::LinearQ8 integers = {};
  integers.bias = bias;
  integers.k = kernels::pad4(k);
  integers.n = padded_n;
  integers.activation = activation;
  integers.y_stride = sink.stride();
  integers.row_maximum = row_maximum;
  bind_weights(run, w, &integers);
  integers.scratch =
      reinterpret_cast<int8_t*>(run.scratch + sink_scratch(op, n, most_rows) + row_maximum_bytes(w, op, most_rows));
  const bool some = makes_listed(run, op, w);
  const bool shared = run.helpers != nullptr && has_parts(w);
  bool all_run = true;
  // Runs kernel(layer) for all columns, or for those that are needed.
  const auto multiply = [&](const auto& kernel, const auto& layer) {
    if (!some && shared) return multiply_parts(*run.helpers, kernel, layer, &all_run);
    if (!some) return kernel(layer);
    return for_listed_panels(run, padded_n / 16,
                             [&](uint32_t panel, uint32_t panels) { return kernel(part_of(layer, panel, panels)); });
  };
  bool finite = true;
  for (uint32_t first = 0, rows = 0; first < run.rows; first += rows) {
    rows = sink.block(first);
    float* y = sink.rows(first);
    const Rows block = x.from(first);
    if (!linked::kFloat || (linked::kDynamic && x.q8)) {
      integers.x = block.i8();
      integers.x_stride = block.stride;
      integers.x_scale = block.scales;
      integers.rows = rows;
      integers.y = y;
      finite &= multiply(run.kernels.linear_q8, integers);
    } else if (backend) {
      const Status status = run.backend->linear(run.backend->context, run.linear_number, block.f32(), block.stride,
                                                rows, y, sink.stride());
      if (status != Status::kOk) return status;
    } else {
      const kernels::LinearF32 floats = {
          block.f32(), block.stride, rows, blob<void>(run, w.data()), element(w.type()), bias, k, padded_n, activation,
          y,           sink.stride()};
      finite &= multiply(run.kernels.linear_f32, floats);
    }
    finite &= sink.finish(first, rows, row_maximum);
  }
  if (!all_run) return Status::kInvalidArgument;
  return finite ? Status::kOk : Status::kNonFinite;
}

/// Computes term weights, or rows of a tile. If only the rows of global tokens are needed, it computes all rows of a
/// tile that has a global token, and none otherwise.
Status run_linear(const TileRun& run, const fb::Op& op) {
  if constexpr (linked::kTerms) {
    if (makes_terms(*op.attributes_as_Linear())) return run_terms(run, op);
  }
  if (!only_globals(*op.attributes_as_Linear())) return multiply_rows(run, op);
  if constexpr (linked::kGlobals) {
    const Rows y = tile_rows(run, operand(op.outputs(), 0));
    if (lacks_globals(run)) {
      memset(y.data, 0, size_t{run.rows} * y.stride * sizeof(float));
      return Status::kOk;
    }
    const Status status = multiply_rows(run, op);
    keep_global_rows(run, y);
    return status;
  }
  return Status::kOk;
}

}  // namespace

BANTAM_RULE(Linear, verify_linear, linear_scratch, linked::kGlobals || linked::kTerms ? run_linear : multiply_rows);

}  // namespace bantam::ops
