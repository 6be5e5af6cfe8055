// Addresses of an operator's tensors, and checks that several operators share.
#ifndef BANTAM_OPS_OPERANDS_H_
#define BANTAM_OPS_OPERANDS_H_

#include "ops/ops.h"
#include "ops/weights.h"

namespace bantam::ops {

/// Rows of an arena tensor in memory.
struct Rows {
  uint8_t* data;  // first row
  float* scales;  // i8: scale of the first row; else null
  size_t stride;  // elements from row to row
  bool q8;

  float* f32() const { return reinterpret_cast<float*>(data); }
  int8_t* i8() const { return reinterpret_cast<int8_t*>(data); }
  /// The same rows from row `n` on.
  Rows from(uint32_t n) const {
    return {data + size_t{n} * stride * (q8 ? 1 : 4), scales == nullptr ? nullptr : scales + n, stride, q8};
  }
};

/// Rows that a layer's matrix product takes at a time: `best`, limited to the rows that scratch has room for.
inline uint32_t linear_rows(const TileRun& run, uint32_t best) {
  if (!linked::kHost) return run.block_rows;
  return best < run.linear_rows ? best : run.linear_rows;
}

/// First byte of an arena tensor.
inline uint8_t* base(const TileRun& run, const fb::Tensor& t) {
  return (t.region() == fb::Region::tile ? run.tile : run.shared) + evaluate(t.offset(), run.values);
}

/// All rows of an f32 or i8 tensor with layout `rows`.
inline Rows all_rows(const TileRun& run, int32_t index) {
  const fb::Tensor& t = tensor(run.model, index);
  const size_t stride = kernels::pad16(width(t));
  const bool q8 = t.type() == fb::DType::i8;
  uint8_t* data = base(run, t);
  float* scales = q8 ? reinterpret_cast<float*>(data + stride * run.values[rows_symbol(t)]) : nullptr;
  return {data, scales, stride, q8};
}

/// The rows of this tile: those of the step in a shared tensor, all rows of a tile tensor.
inline Rows tile_rows(const TileRun& run, int32_t index) {
  if (linked::kScoredRows && run.scored != nullptr && run.scored->tensor == index) {
    return Rows{run.scored->data, nullptr, kernels::pad16(width(tensor(run.model, index))), false}.from(
        run.first_scored);
  }
  const Rows all = all_rows(run, index);
  return tensor(run.model, index).region() == fb::Region::tile ? all : all.from(run.row_begin);
}

/// A constant's bytes; null for -1.
template <typename T>
const T* constant(const TileRun& run, int32_t index) {
  return index < 0 ? nullptr : reinterpret_cast<const T*>(run.data + tensor(run.model, index).data()->offset());
}

template <typename T>
const T* blob(const TileRun& run, const fb::Blob* b) {
  return b == nullptr || b->size() == 0 ? nullptr : reinterpret_cast<const T*>(run.data + b->offset());
}

/// Returns the sequence that row `row` of the run belongs to. O(log sequences).
inline uint32_t find_sequence(const TileRun& run, uint32_t row) {
  uint32_t low = 0;
  uint32_t high = run.sequences - 1;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (row >= run.offsets[middle + 1]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Legal ids of the pass are [0, ids_limit).
inline uint32_t ids_limit(const fb::Model& model, fb::Phase phase) { return ids_input(model, phase)->limit(); }

/// Columns of an operator's first input, and of the output of Attention.
inline uint32_t input_width(const fb::Model& model, const fb::Op& op) {
  return width(tensor(model, operand(op.inputs(), 0)));
}
inline uint32_t attention_width(const fb::Op& op) {
  const fb::Attention& attention = *op.attributes_as_Attention();
  return attention.heads() * attention.head_width();
}

/// Returns true for shared token rows in the arena, of any type, which any operator may read as a whole. The rows of
/// constants have no symbol, those of tile tensors have another symbol, and states of a source's tokens lie elsewhere.
inline bool is_token_rows_of_any_type(const fb::Tensor& t) {
  return rows_symbol(t) == kTokens && !is_state(t) && t.layout() == fb::Layout::rows;
}
/// The same, for f32 only.
inline bool is_token_rows(const fb::Tensor& t) { return is_token_rows_of_any_type(t) && t.type() == fb::DType::f32; }

/// Rule::scratch of operators that need none.
inline uint64_t no_scratch(const fb::Model&, const fb::Op&, const ScratchNeed&) { return 0; }

/// Returns the position of row `row` of the run in its sequence.
inline uint32_t place_of(const TileRun& run, uint32_t sequence, uint32_t row) {
  const uint32_t past = run.contexts == nullptr ? 0 : run.contexts->past[sequence];
  return row - run.offsets[sequence] + past;
}

/// Passes the addresses of integer weights to the kernel. k and n of `args` must already be set, because some layouts
/// depend on them.
inline void bind_weights(const TileRun& run, const fb::Tensor& w, kernels::LinearQ8* args) {
  args->w = blob<int8_t>(run, w.data());
  args->w_scale = blob<float>(run, w.scales());
  args->w_sum = blob<int32_t>(run, w.sums());
  args->fits_words = w.fits_words();
  with_weights(w, [&](auto format) {
    decltype(format)::bind(w, args);
    return true;
  });
}

inline kernels::Element element(fb::DType type) { return static_cast<kernels::Element>(type); }

// ------------------------------------------------------------------------------------------- checks

/// Checks that input `position` is an arena tensor with layout `rows`, type f32 or (if `may_be_i8`) i8, whose rows are
/// those of the step. `width` 0: any.
Verdict check_row_input(const Site& site, uint32_t position, uint32_t width, bool may_be_i8);

/// Checks that `index` is an arena tensor with the step's rows (in the tile region: with the tile symbol).
Verdict check_step_rows(const Site& site, int32_t index);

/// Checks that `index` is -1 or an f32 constant vector of `length` elements.
Verdict check_vector(const Site& site, int32_t index, uint32_t length, const char* what);

/// Checks that `index` is a constant vector of `length` numbers of this type.
Verdict check_numbers(const Site& site, int32_t index, fb::DType type, uint32_t length);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_OPERANDS_H_
