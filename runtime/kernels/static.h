// Arguments of the static kernels: no float between ids and logits, so results have the same bits on every machine with
// integers. `Integer` in schemas/bantam.fbs defines the formulas; this header adds memory layouts. See kernels.h for
// conventions: i8 rows are stored as x ^ offset_xor, without a scale; vectors of length n are padded to pad16(n).
#ifndef BANTAM_KERNELS_STATIC_H_
#define BANTAM_KERNELS_STATIC_H_

// Only kernels.h includes this header.
#include <stddef.h>
#include <stdint.h>

namespace bantam::kernels {

/// Converts a sum to a number with fewer bits.
struct Requantise {
  const int32_t* bias;             // [n] or null (then 0)
  const int16_t* multiplier;       // [n]
  uint32_t pre_shift, post_shift;  // 0..31
};

/// Sparse weights and their scratch, as in LinearQ8; no fields if sparse weights are not linked.
template <bool kLinked>
struct SparseOperands {
  SparseBlocks sparse = {};
  int8_t* scratch = nullptr;
};
template <>
struct SparseOperands<false> {
  static constexpr SparseBlocks sparse = {};
  static constexpr int8_t* scratch = nullptr;
};

/// Weights, sums, k, k16 and fits_words as in LinearQ8; n a multiple of 16. Exactly one of y8, y16 and y_f32 is not
/// null.
struct StaticLinear : SparseOperands<linked::kSparse> {
  const int8_t* x;  // i8 rows
  size_t x_stride;  // bytes
  uint32_t rows;
  const int8_t* w;       // 64-byte aligned
  const int32_t* w_sum;  // [n]
  uint32_t k, n;
  Requantise requantise;
  const int8_t* table;  // [256] or null; with y8 only
  int8_t* y8;           // i8 rows
  int16_t* y16;
  float* y_f32;
  const float* scale;  // [n], only with y_f32 = float(sum + bias) * scale
  size_t y_stride;     // elements
  bool k16 = false;
  bool fits_words = false;  // as in LinearQ8
};

/// Residual, layer norm and store of the result, for rows h, which the residual changes in place.
struct StaticNorm {
  int16_t* h;
  size_t h_stride;
  uint32_t rows, width;    // width at most kMaxStaticWidth
  const int8_t* residual;  // i8 rows, or null; may be y
  size_t residual_stride;
  const int16_t* residual_multiplier;  // [width]
  uint32_t residual_shift;             // 0..31
  const int16_t* gamma;                // [width]
  const int32_t* beta;                 // [width]
  uint32_t shift;                      // 0..31
  uint64_t epsilon;                    // at least 1
  int8_t* y;                           // i8 rows; lanes [width, pad16(width)) become 0
  size_t y_stride;
};
/// The sum of h stays in int32.
constexpr uint32_t kMaxStaticWidth = 1u << 15;

struct StaticSource {
  const void* data;           // [V][width] i8 or i16
  bool wide;                  // i16
  const int16_t* multiplier;  // [V]
  uint32_t shift;             // 0..31
  const int32_t* index;       // [rows], already checked and offset
};
struct StaticEmbed {
  const StaticSource* sources;
  uint32_t source_count;  // 1..8
  uint32_t rows, width;
  int16_t* y;
  size_t y_stride;
};

/// Splits i8 rows [q | k | v], as SplitHeads does; heads or kv_heads may be 0. Pages contain only tiles: keys as
/// [W/4][16][4] with offset_xor applied, W = pad4(head_width), values as [V/16][4][16][4] without it, V =
/// pad16(head_width); padding is 0.
struct StaticSplit {
  const int8_t* x;
  size_t x_stride;
  uint32_t row_begin, rows;
  uint32_t heads, kv_heads, head_width;
  int8_t* q;  // i8 rows, row 0 of the tensor
  size_t q_stride;
  uint8_t* key_pages;
  uint8_t* value_pages;
};

/// Scratch of static_attention for `queries` queries at a time over keys in `pages` pages.
BANTAM_KERNELS_CONSTEXPR size_t static_attention_scratch_bytes(uint32_t pages, uint32_t queries, uint32_t head_width) {
  return size_t{queries} * (size_t{pages} * 64 + pad4(head_width));
}

/// One head; queries, keys and masks as in Attention. y has i8 rows: only this head's columns are written.
struct StaticAttention : BiasedScores<false>, PageList<false> {
  const int8_t* q;  // this head's columns of query row query_begin
  size_t q_stride;
  uint32_t query_begin, queries;
  const uint8_t* key_pages;
  size_t key_page_stride;
  const uint8_t* value_pages;
  size_t value_page_stride;
  uint32_t kv_begin, kv_end;
  uint32_t head_width;
  uint32_t multiplier;  // of the head
  Mask mask;
  uint32_t window;
  int8_t* y;
  size_t y_stride;
  void* scratch;  // static_attention_scratch_bytes(visible_pages, queries, head_width), 16-byte aligned
};

/// Computes one row from i8 rows [row_begin, row_end) (at least one). y: a row as it is (first, last, max). y_f32:
/// float(v) * scale, with v the first, last, maximum or sum; mean: the scaled sum is divided by the count last; l2 as
/// in PoolRows.
struct StaticPool {
  const int8_t* x;  // row 0 of the tensor
  size_t x_stride;
  uint32_t row_begin, row_end;
  uint32_t width;
  Pool kind;
  bool l2;
  int8_t* y;  // or null
  float* y_f32;
  const float* scale;  // [width]
};

}  // namespace bantam::kernels

#endif  // BANTAM_KERNELS_STATIC_H_
