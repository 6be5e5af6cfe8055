// The kernel table: every inner loop of the runtime, once for each instruction set.
//
// One row of kernels.inc yields the declaration, dispatch, property test and benchmark of a kernel. The
// reference (scalar C++) is the definition; every other instruction set equals it bit for bit.
//
// Conventions
//   pad16(n)   n rounded up to a multiple of 16.
//   f32 rows   row stride a multiple of 16 floats, base 64-byte aligned (firmware: 16); lanes from n to
//              pad16(n) exist and may hold anything: kernels may write them and must not depend on them.
//   vectors    bias, gamma, beta, scales, sums of length n are stored padded to pad16(n) with zeros.
//   q8 rows    int8 with one f32 scale per row; value = x * scale. x is stored as x ^ offset_xor of the active table
//              (0x80 if its dot product takes u8, else 0): private to a session.
//   sums       a sum over a row is 16 strided partial sums (element i goes to lane i % 16, in order of i;
//              missing lanes start at +0), then the fixed tree: lanes l and l+8, then l and l+4, l+2, l+1.
//   fma        only where a formula below says fma; contraction is off. Everything else is one IEEE operation, rounded
//              to nearest even, in the order that the formula writes.
//   exp, ...   exp, gelu and the other activations are the polynomials of generic/math.h, which states their errors.
//   false      some value to store is NaN or infinite; the stored results are then undefined.
//   tails      there may be any number of rows >= 1; no kernel reads or writes outside the ranges that its arguments
//              state, padding lanes included.
#ifndef BANTAM_KERNELS_KERNELS_H_
#define BANTAM_KERNELS_KERNELS_H_

#include <stddef.h>
#include <stdint.h>

#include "bantam/session.h"
#include "linked.h"

namespace bantam::kernels {

// Never emitted as functions: the instruction sets' translation units include this header, too, and the linker must not
// choose their copy for code that runs everywhere.
#define BANTAM_KERNELS_CONSTEXPR [[gnu::always_inline]] constexpr
#define BANTAM_KERNELS_INLINE [[gnu::always_inline]]

BANTAM_KERNELS_CONSTEXPR uint32_t pad4(uint32_t n) { return (n + 3u) & ~3u; }
BANTAM_KERNELS_CONSTEXPR uint32_t pad8(uint32_t n) { return (n + 7u) & ~7u; }
BANTAM_KERNELS_CONSTEXPR uint32_t pad16(uint32_t n) { return (n + 15u) & ~15u; }

/// Most inputs of int4 weights that share a factor. Group sizes are multiples of 8, and may exceed the number of
/// inputs.
constexpr uint32_t kMostInt4Group = 1u << 24;
/// Number of groups of k inputs; the last one may be shorter. k padded to 4 has the same number.
BANTAM_KERNELS_CONSTEXPR uint32_t int4_groups(uint32_t k, uint32_t group) { return (k - 1) / group + 1; }
/// End of the group that begins with input `begin`, limited to `end`.
BANTAM_KERNELS_CONSTEXPR uint32_t int4_group_end(uint32_t begin, uint32_t group, uint32_t end) {
  return group < end - begin ? begin + group : end;
}

/// Same values as fb::ActivationKind, fb::NormKind, fb::DType (static_asserts in runtime/ops).
enum class Activation : uint8_t {
  kNone,
#define BANTAM_ACTIVATION(kind, name, formula, names) k##name,
#include "kernels/activations.inc"
#undef BANTAM_ACTIVATION
};
enum class Norm : uint8_t { kNone = 0, kLayer = 1, kRms = 2, kAffine = 3 };
enum class Element : uint8_t { kF32 = 0, kF16 = 1, kI8 = 3 };

/// Weights that are not stored as int8 are unpacked for this many inputs at a time: all inputs of the layer, or on a
/// small device what memory allows.
BANTAM_KERNELS_CONSTEXPR uint32_t unpacked_inputs(uint32_t k) {
  constexpr uint32_t kMost = linked::kHost ? UINT32_MAX : 64;
  return pad8(k) < kMost ? pad8(k) : kMost;
}

/// Within a span of this many outputs, sparse weights may be stored in any order; the last span of a layer may be
/// shorter, by multiples of 16.
constexpr uint32_t kSparseSpan = 64;

/// Nonzero weights of a layer in blocks of one output by four inputs (layout sparse_1x4). Outputs are processed in
/// groups of four. Group g has the steps [ends[g - 1], ends[g]), the first group from `begin`; in each step every one
/// of its outputs has one block: w[step][4][4], index[step][4] = the block's first input / 4. order[4 g + j] is output
/// j of the group, counted from the first output of its span.
struct SparseBlocks {
  const uint16_t* index;
  const uint32_t* ends;  // [n / 4]; null: the weights are not sparse
  const uint8_t* order;  // [n]
  uint32_t begin;        // 0 unless preceding outputs were skipped
};
/// Returns the blocks from output `first` on, which must begin a span.
BANTAM_KERNELS_CONSTEXPR SparseBlocks blocks_from(const SparseBlocks& all, uint32_t first) {
  return {all.index, all.ends + first / 4, all.order + first, first == 0 ? all.begin : all.ends[first / 4 - 1]};
}

/// Bytes that must be readable after the weights of a bitmask.
constexpr uint32_t kBitmaskSlack = 8;

/// Byte i: number of bits set in bytes 0 to i of the mask; so the topmost byte is the total.
BANTAM_KERNELS_CONSTEXPR uint64_t set_bits_through_bytes(uint64_t mask) {
  const uint64_t pairs = mask - (mask >> 1 & 0x5555555555555555u);
  const uint64_t fours = (pairs & 0x3333333333333333u) + (pairs >> 2 & 0x3333333333333333u);
  return ((fours + (fours >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u;
}

/// Bytes of LinearQ8::scratch for 32 outputs of `k` inputs; on a small device for 16.
BANTAM_KERNELS_CONSTEXPR size_t unpacked_scratch(uint32_t k) {
  return size_t{linked::kHost ? 32 : 16} * unpacked_inputs(k);
}

/// Rows that a pass over sparse weights serves on hosts if `rows` are left: 16, 32 or 64. The inputs of 64 rows should
/// fit in a first-level cache of 32 KB; beyond that, 32 rows gain more from sharing a pass than they lose by inputs
/// further away.
BANTAM_KERNELS_CONSTEXPR uint32_t sparse_pass(uint32_t k, uint32_t rows) {
  if (rows <= 16) return 16;
  return rows <= 48 || k > 512 ? 32 : 64;
}
/// Bytes of scratch for the inputs of a pass; on a small device 4 rows of 16 bits.
BANTAM_KERNELS_CONSTEXPR size_t sparse_scratch(uint32_t k) {
  return size_t{linked::kHost ? sparse_pass(k, UINT32_MAX) : 8} * pad4(k);
}

/// If LinearQ8::fits_words is set, the magnitudes of an output's weights for inputs 8 i, 8 i + 1, 8 i + 4 and 8 i + 5
/// sum to at most this for every i, and so do those for the other four inputs of each eight. Kernels without a dot
/// product of bytes multiply |x| by w or by ~w, whose magnitude is at most |w| + 1: with |x| <= 128 four such products
/// sum to at most 128 * (251 + 4) = 32,640.
constexpr int32_t kMostInWords = 251;

/// y[r][n] = act(fma(float(acc), x_scale[r] * w_scale[n], bias[n])), acc = sum over k of x[r][k] * w[n][k]
/// in int32 (exact); float(acc) rounds to nearest even. Weights in [-127, 127] in tiles [n/16][k/4][16][4]; k a
/// multiple of 4 up to 133,144 (x beyond the true K may be anything: weights there are 0), n a multiple of 16. Reads
/// x[r][0, k); writes y[r][0, n).
struct LinearQ8 {
  const int8_t* x;       // q8 rows (offset_xor applied)
  size_t x_stride;       // bytes, multiple of 16
  const float* x_scale;  // [rows]
  uint32_t rows;
  const int8_t* w;       // 64-byte aligned
  const float* w_scale;  // [n]
  const int32_t* w_sum;  // [n] sum over k of w
  const float* bias;     // [n] or null (then 0)
  uint32_t k, n;
  Activation activation;
  float* y;
  size_t y_stride;  // floats, multiple of 16
  /// Null, or [rows][16], 64-byte aligned, for EpilogueRows: the maximum of the 16 is the largest |y[r][n]|, as bits.
  int32_t* row_maximum;
  /// Weights are stored in rows [n][pad16(k)] (layout k16n1), with 0 beyond k, and x is read up to pad16(k): fast with
  /// Helium only.
  bool k16 = false;
  /// Null, or the factors of 4-bit weights (layout tile_i4_k8n16), [n/16][groups of `group` k][16], 1 to 15. Then w is
  /// [n/16][k/8][16][4] bytes, k padded to 8: the low half of byte j is weight 8 i + j, the high half weight 8 i + 4 +
  /// j, both + 8, and the weight in all formulas is (half - 8) * factor. w_sum is the sum of these weights.
  const uint8_t* factors = nullptr;
  uint32_t group = 0;  // a multiple of 8
  /// Weights are -1, 0 and 1 (layout tile_ternary_k16n16): w is [n/16][k/16][16][4] bytes, k padded to 16 with zeros:
  /// bits 2 t and 2 t + 1 of byte j are weight 16 i + 4 t + j, plus 1.
  bool ternary = false;
  SparseBlocks sparse = {};
  /// Null, or masks of the nonzero weights (layout bitmask_k4n16), [n/16][k/4]: bit i is byte i of the tile [16][4].
  /// Then w has the bytes whose bits are set, in order, followed by kBitmaskSlack readable bytes.
  const uint64_t* masks = nullptr;
  /// 64-byte aligned (firmware: 16): sparse_scratch(k) bytes, or unpacked_scratch(k) for factors and masks,
  /// unpacked_scratch(pad16(k)) for ternary weights.
  int8_t* scratch = nullptr;
  /// Magnitudes of w stay within kMostInWords. For int8 weights only.
  bool fits_words = false;
};

/// y[r][n] = act(acc), acc starts at bias[n] (or 0) and takes fma(x[r][k], w[n][k], acc) in order of k.
/// Weights f32 or f16 in tiles [n/16][k][16].
struct LinearF32 {
  const float* x;
  size_t x_stride;  // floats
  uint32_t rows;
  const void* w;
  Element w_type;  // kF32 or kF16
  const float* bias;
  uint32_t k, n;  // k exact, n a multiple of 16
  Activation activation;
  float* y;
  size_t y_stride;
};

/// For each row, in this order: v = act(x); v *= gate; v += residual; v = norm(v); store f32; store q8.
/// layer norm: mean = sum(v) / width; d = v - mean; var = sum(d * d) / width (d * d by fma into the partial
/// sum); r = 1 / sqrt(var + epsilon) (correctly rounded); v = fma(d * r, gamma, beta).
/// rms: the same without the mean. affine: fma(v, gamma, beta). Null gamma: 1; null beta: 0.
/// q8: first v = v * smooth, if smooth is given; m = max |v| (integer maximum of the bits); scale = m / 127; stored =
/// round-to-nearest-even(v * (127 / m)), which never exceeds +-127. If m < 2^-100: scale 1, stored 0.
/// A q8 residual is float(stored) * residual_scale.
struct EpilogueRows {
  const float* x;
  size_t x_stride;
  uint32_t rows, width;
  Activation activation;
  const float* gate;  // f32 rows, or null
  size_t gate_stride;
  const float* residual;     // f32 rows, or null
  const int8_t* residual_q;  // q8 rows, or null
  const float* residual_scale;
  size_t residual_stride;  // elements of whichever is set
  Norm norm;
  const float* gamma;
  const float* beta;
  float epsilon;
  float* y;  // may equal x or residual (then same stride); null: not stored
  size_t y_stride;
  bool y_before_norm;  // y gets v before the norm
  int8_t*
      q;  // null: not stored; may equal residual_q (then same stride and scales). Lanes [width, pad16(width)) become 0.
  size_t q_stride;
  float* q_scale;       // [rows]
  const float* smooth;  // [width]: factors of the q8 store; null: 1
  /// The row maxima that linear_q8 measured, or null. Only for a call that just stores x, whose width is a multiple of
  /// 16, as q8: no activation, gate, residual, norm, y or smooth.
  const int32_t* row_maximum;
};

/// One table of an embedding: value = float(element) * (scales[index] * scale) for i8, element * scale for float.
struct EmbedSource {
  const void* data;
  Element type;
  bool tiled;           // false: rows; true: linear tiles with V as n and width as k
  size_t stride;        // of rows, in elements
  const float* scales;  // i8 only
  float scale;
  const int32_t* index;  // [rows], already checked and offset; negative: adds a row of zeros
};

/// y[r] = sum over sources in order (first is stored, others added).
struct EmbedRows {
  const EmbedSource* sources;
  uint32_t source_count;  // 1..8
  uint32_t rows, width;
  float* y;
  size_t y_stride;
};

/// Bytes of one page of 16 rows for one head; the same as the schema's Layout comments.
BANTAM_KERNELS_CONSTEXPR size_t key_page_bytes(uint32_t head_width, bool q8) {
  return q8 ? size_t{pad4(head_width)} * 16 + 64 : size_t{head_width} * 64;
}
BANTAM_KERNELS_CONSTEXPR size_t value_page_bytes(uint32_t head_width, bool q8) {
  return q8 ? size_t{pad16(head_width)} * 16 + 64 : size_t{pad16(head_width)} * 64;
}
/// Bytes of a page of static quantization: kernels/static.h.
BANTAM_KERNELS_CONSTEXPR size_t static_key_page_bytes(uint32_t head_width) { return size_t{pad4(head_width)} * 16; }
BANTAM_KERNELS_CONSTEXPR size_t static_value_page_bytes(uint32_t head_width) { return size_t{pad16(head_width)} * 16; }

/// Splits f32 rows [q | k | v] of (heads + 2 * kv_heads) * head_width columns. q8: each (row, head) is quantized with
/// its own scale as in EpilogueRows; if offset_xor is not 0, keys are stored as u8 (k + 128) and queries as s8, so that
/// the correction, -128 times a query's sum, is one number per query. Either number of heads may be 0: then x has no
/// such columns and their tensors are not accessed. Row r of this call is row `row_begin + r` of the tensors: q goes to
/// row row_begin + r; k and v to lane (row_begin + r) % 16 of page (row_begin + r) / 16. If a call begins a page
/// (row_begin % 16 == 0) or ends inside one, lanes of that page that no row has written are undefined: attention must
/// not depend on them. Padding columns of value pages are set to zero.
/// With rotary positions (arXiv 2104.09864) a head x of queries and keys becomes x' before it is stored: with c =
/// rotary[r][i] and s = rotary[r][w + i], w = rotary_width, x'[i] = fma(x[i], c, 0 - x[w + i] * s) and x'[w + i] =
/// fma(x[w + i], c, x[i] * s) for i < w; the head's other elements are unchanged.
template <bool kLinked>
struct RotaryHeads {
  const float* rotary = nullptr;  // [rows][2 w]; null: heads are not rotated
  uint32_t rotary_width = 0;      // w, at most half a head
  float* rotated = nullptr;       // scratch: rotary_scratch_bytes(head_width)
  BANTAM_KERNELS_INLINE void rotate_by(const float* table, uint32_t width, void* scratch) {
    rotary = table;
    rotary_width = width;
    rotated = static_cast<float*>(scratch);
  }
  BANTAM_KERNELS_INLINE void skip_rotary(uint32_t rows) {
    if (rotary != nullptr) rotary += size_t{rows} * 2 * rotary_width;
  }
};
/// No fields if rotary positions are not linked.
template <>
struct RotaryHeads<false> {
  static constexpr const float* rotary = nullptr;
  static constexpr uint32_t rotary_width = 0;
  static constexpr float* rotated = nullptr;
  BANTAM_KERNELS_INLINE void rotate_by(const float*, uint32_t, void*) const {}
  BANTAM_KERNELS_INLINE void skip_rotary(uint32_t) const {}
};
BANTAM_KERNELS_CONSTEXPR size_t rotary_scratch_bytes(uint32_t head_width) { return size_t{pad16(head_width)} * 4; }

struct SplitHeads : RotaryHeads<linked::kRotary> {
  const float* x;  // row 0 of this call
  size_t x_stride;
  uint32_t row_begin, rows;
  uint32_t heads, kv_heads, head_width;
  bool q8;
  void* q;             // q8: int8 rows; else f32 rows. Row 0 of the tensor.
  size_t q_stride;     // elements
  float* q_scale;      // [row][heads], row 0 of the tensor
  uint8_t* key_pages;  // page 0, head 0: page p of head h at (p * kv_heads + h) * key_page_bytes
  uint8_t* value_pages;
};

enum class Mask : uint8_t { kNone = 0, kCausal = 1, kWindow = 2, kCausalWindow = 3 };

/// Keys or pages [begin, end).
struct Range {
  uint32_t begin, end;
};

/// The keys that a query attends to: every mask leaves an interval. If it is empty, end <= begin.
template <class Args>
BANTAM_KERNELS_CONSTEXPR Range visible_range(const Args& a, uint32_t query) {
  Range keys{a.kv_begin, a.kv_end};
  if constexpr (!linked::kMasks) return keys;
  const bool causal = a.mask == Mask::kCausal || a.mask == Mask::kCausalWindow;
  const bool window = a.mask == Mask::kWindow || a.mask == Mask::kCausalWindow;
  if (window && query > a.window && query - a.window > keys.begin) keys.begin = query - a.window;
  uint64_t end = keys.end;
  if (window && uint64_t{query} + a.window + 1 < end) end = uint64_t{query} + a.window + 1;
  if (causal && uint64_t{query} + 1 < end) end = uint64_t{query} + 1;
  keys.end = static_cast<uint32_t>(end);
  return keys;
}

/// Range of pages that contain all keys visible to a query of the call; begin and end of a query's keys increase with
/// the query.
template <class Args>
BANTAM_KERNELS_CONSTEXPR Range visible_pages(const Args& a) {
  const uint32_t begin = visible_range(a, a.query_begin).begin;
  const uint32_t end = visible_range(a, a.query_begin + a.queries - 1).end;
  return begin < end ? Range{begin / 16, (end + 15) / 16} : Range{a.kv_begin / 16, a.kv_begin / 16};
}

/// Most pages that `queries` adjacent queries attend to, of keys in `pages` pages.
BANTAM_KERNELS_CONSTEXPR uint32_t most_visible_pages(uint32_t pages, uint32_t queries, Mask mask, uint32_t window) {
  if (!linked::kMasks || (mask != Mask::kWindow && mask != Mask::kCausalWindow)) return pages;
  const uint64_t keys = uint64_t{queries} + uint64_t{window} * (mask == Mask::kWindow ? 2 : 1);
  return (keys + 14) / 16 + 1 < pages ? static_cast<uint32_t>((keys + 14) / 16 + 1) : pages;
}

/// Biases of the scores are in scratch, page after page of visible_pages: [query][page][16] floats, which the scores
/// overwrite. The caller has filled them in; elements for masked keys may be anything. With a soft cap c above 0 (then
/// `biased` is true, too), a score s with its bias becomes c * tanh(s / c).
template <bool kLinked>
struct BiasedScores {
  bool biased = false;
  float soft_cap = 0;
};
template <>
struct BiasedScores<false> {
  static constexpr bool biased = false;
  static constexpr float soft_cap = 0;
};

/// The score of a further key, whose value is 0 and which every query attends to that attends to any key.
template <bool kLinked>
struct SunkScores {
  bool sunk = false;
  float sink = 0;
};
template <>
struct SunkScores<false> {
  static constexpr bool sunk = false;
  static constexpr float sink = 0;
};

/// Locations of key and value pages: page p is page list[p] of the memory. Null: page p is page p.
template <bool kLinked>
struct PageList {
  const uint32_t* page_list = nullptr;
  BANTAM_KERNELS_INLINE size_t place(uint32_t page) const { return page_list == nullptr ? page : page_list[page]; }
  /// Returns true if pages [page, page + count) are contiguous.
  BANTAM_KERNELS_INLINE bool neighbours(uint32_t page, uint32_t count) const {
    for (uint32_t i = 1; page_list != nullptr && i < count; ++i) {
      if (page_list[page + i] != page_list[page] + i) return false;
    }
    return true;
  }
};
template <>
struct PageList<false> {
  BANTAM_KERNELS_INLINE size_t place(uint32_t page) const { return page; }
  BANTAM_KERNELS_INLINE bool neighbours(uint32_t, uint32_t) const { return true; }
};

/// Attention of query rows [query_begin, query_begin + queries) over key rows [kv_begin, kv_end), for one head. Query
/// numbers are key positions, i.e. rows as in SplitHeads: that of the query's own key if it has one. q alone determines
/// where queries are stored. Masked: causal: key > query; window w: |key - query| > w; a query whose keys are all
/// masked yields 0. Pages that no query attends to are not accessed. kv_end - kv_begin is at most 66,311 for q8.
/// q8: t = float(acc) * k_scale[j], c = q_scale * scale * log2(e), p = 2^fma(t, c, -max(t) * c) by exp2_of_score;
/// biased: t = fma(float(acc) * k_scale[j], q_scale * scale, bias), capped if the call has a soft cap, c = log2(e).
/// f32: score = dot in order of d by fma from 0, * scale, or with a bias fma(dot, scale, bias), capped; p = exp(score -
/// max).
/// l = sum of p, lane (j - kv_begin) % 16, in order of j, then the tree: the result does not depend on the position of
/// the sequence in a batch. With a sink, max includes it, and l includes its p, which is added last; q8 multiplies
/// sink * log2(e) in f32.
/// q8: w = p * v_scale[j]; m = max of w; u = round(w * (255 / m)) in [0, 255] (0 if m < 2^-100); y = float(sum u * v) *
/// ((m / 255) / l). f32: y = (sum over unmasked j, in order, by fma(p, v, acc) from 0) / l.
struct Attention : BiasedScores<linked::kBias>, SunkScores<linked::kSinks>, PageList<linked::kPageLists> {
  const void* q;          // this head's columns of query row query_begin
  size_t q_stride;        // elements
  const float* q_scale;   // of query_begin, this head
  size_t q_scale_stride;  // floats from query to query
  uint32_t query_begin, queries;
  const uint8_t* key_pages;  // page 0 of the memory, this head
  size_t key_page_stride;    // bytes from page to page
  const uint8_t* value_pages;
  size_t value_page_stride;
  uint32_t kv_begin, kv_end;
  uint32_t head_width;
  float scale;
  Mask mask;
  uint32_t window;
  bool q8;
  float* y;  // [queries][head_width]: only these columns are written
  size_t y_stride;
  void* scratch;  // attention_scratch_bytes(visible_pages, queries), aligned like f32 rows
};
/// Number of pages that rows [begin, end) touch.
BANTAM_KERNELS_CONSTEXPR uint32_t attention_pages(uint32_t begin, uint32_t end) { return (end + 15) / 16 - begin / 16; }
/// For each query the f32 scores of whole pages, which are replaced in place by u8 probabilities; the same on every
/// ISA.
BANTAM_KERNELS_CONSTEXPR size_t attention_scratch_bytes(uint32_t pages, uint32_t queries) {
  return size_t{queries} * pages * 64;
}

/// One row per sequence from f32 or q8 rows [row_begin, row_end) (at least one); a q8 value is float(stored) * scale.
/// mean: sum in row order, / count. l2: v / max(sqrt(sum v * v), 1e-12), v * v by fma into the partial sums.
enum class Pool : uint8_t { kFirst = 0, kMean = 1, kMax = 2, kLast = 3, kSum = 4 };
struct PoolRows {
  const float* x;  // row 0 of the tensor; null: q8 rows
  const int8_t* x_q;
  const float* x_scale;
  size_t x_stride;  // elements
  uint32_t row_begin, row_end;
  uint32_t width;
  Pool kind;
  bool l2;
  float* y;
};

/// In place: p = exp(x - max); x = p / l, l = sum of p.
struct SoftmaxRows {
  float* x;
  size_t x_stride;
  uint32_t rows, width;
};

/// A step of one recurrent row. The gates' terms from the input (x) and from the state (s) are in blocks of
/// pad16(width).
/// lstm, gates i, f, g, o, a = x + s of each: c = fma(sigmoid(f), c, sigmoid(i) * tanh(g)); h = sigmoid(o) * tanh(c).
/// gru, gates r, z, n: n = tanh(fma(sigmoid(x_r + s_r), s_n, x_n)); h = fma(sigmoid(x_z + s_z), h - n, n).
/// ssru, gates f, n: h = fma(sigmoid(x_f), h - x_n, x_n).
/// All pointers are aligned as f32 rows.
struct RecurrentRow {
  const float* x;
  const float* s;  // null: ssru
  uint32_t width;
  float* c;  // null: gru or ssru
  float* h;
};

/// A token of a scan (Scan in the schema), for `width` columns. States and rates are rows of pad16(width) numbers.
/// - selective, with s = steps, for n below `states`: h_n = fma(exp(s * rates_n), h_n, (s * x) * b[n]), or the last
///   product alone without `before`; y = fma(c[n], h_n, y) from 0 on, then fma(skip, x, y).
/// - gated: t = tanh(-(s * rates_0)); h = fma(exp(s * rates_0), h, sqrt(2 t / (1 + t)) * x), or x without `before`;
///   y = h.
/// - weighted, with l = h_1 + rates_0, d = s - l, m = x - h_0: y = fma(sigmoid(s + (rates_1 - h_1)), m, h_0);
///   h_0 = fma(sigmoid(d), m, h_0); h_1 = l + softplus(d). Without `before`: y = h_0 = x, h_1 = s.
/// All pointers but b and c are aligned as f32 rows; `after` may be `before`.
struct ScanRow {
  const float* x;
  const float* steps;
  const float* rates;
  const float* b;       // [states]; null: gated (a state) or weighted (two)
  const float* c;       // [states]
  const float* skip;    // null: none
  const float* before;  // the states in front of the token; null: the first token of a text
  float* after;         // the states behind it
  float* y;
  uint32_t width, states;
};

/// y[i] = sum over k of max(start[k] + end[k], 0) * label[k], label = labels + rows[i] * stride: products by fma into
/// partial sums k % 16, then the tree. Rows are aligned as f32 rows.
struct SpanScores {
  const float* start;
  const float* end;
  uint32_t width;
  const float* labels;
  size_t stride;
  const uint32_t* rows;
  uint32_t count;
  float* y;
};

/// The mean of `count` rows of values, weighted by how well their keys match q. s_j = sum over k of q[k] * keys[j][k]
/// or, with v, of v[k] * tanh(q[k] + keys[j][k]), by fma into partial sums k % 16, then the tree; w = softmax of scale
/// * s (softmax_rows), then w_j *= exp(fall * d * d), d = j - place, unless fall is 0; y = sum over j of w_j *
/// values[j], by fma in row order. All but v are aligned as f32 rows.
struct AlignRow {
  const float* q;
  const float* keys;  // rows key_stride floats apart
  size_t key_stride;
  const float* v;  // [width]; null: products
  uint32_t width;
  float scale;
  const float* values;
  size_t value_stride;
  uint32_t value_width;
  uint32_t count;  // at least 1
  float place;
  float fall;      // at most 0
  float* weights;  // scratch: align_scratch_floats(count)
  float* y;
};
BANTAM_KERNELS_CONSTEXPR size_t align_scratch_floats(uint32_t count) { return size_t{2} * pad16(count); }

/// Turns products h of queries or keys x with random vectors into features v, in place (Performer, arXiv 2009.14794).
/// softmax: s = sum over k of x[k] * x[k], by fma into partial sums k % 16, then the tree;
/// v = exp(h - fma(0.5, s, M)) + epsilon. For queries M is the row's largest h. For keys it is the largest h of all
/// rows and of `most`, which becomes M; `kept` becomes exp(most before - most now): the results of earlier calls must
/// be multiplied by it. relu: v = max(h, 0) + epsilon; `kept` becomes 1.
/// sums[r] = sum over i of v[i] * weights[i], by fma into partial sums i % 16, then the tree.
struct FeatureRows {
  float* h;
  size_t h_stride;
  uint32_t rows, width;
  const float* x;  // any address; null: relu
  size_t x_stride;
  uint32_t x_width;
  float epsilon;
  float* most;  // null: rows are queries
  float* kept;
  const float* weights;  // [width], padded; null: no sums
  float* sums;
};

/// Sums over rows of products of two vectors, in the layout of LinearF32's weights from k to n columns: y[p][i][l] =
/// fma(y[p][i][l], keep, s), s from 0 by fma(a[r][i], b[r][16 p + l], s) in order of r. Calls with a few rows each keep
/// long sums from losing precision.
struct OuterSums {
  const float* a;  // any address
  size_t a_stride;
  const float* b;  // rows of n columns
  size_t b_stride;
  uint32_t rows;
  uint32_t k, n;  // n a multiple of 16
  float keep;
  float* y;  // [n / 16][k][16]
};

}  // namespace bantam::kernels

#if BANTAM_IF_LINKED(Static)
#include "kernels/static.h"
#endif

namespace bantam::kernels {

#define BANTAM_KERNEL(name, Args) struct Args;
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL

/// The table: one function pointer per row of kernels.inc. Chosen when a session is created.
struct Table {
  Isa isa;
  uint8_t offset_xor;   // 0x80: q8 activations are stored as u8 (x + 128)
  uint8_t linear_rows;  // best rows of a linear layer at a time, if there is room for their sums
  uint8_t sparse_rows;  // the same for sparse weights: rows that share a pass
#define BANTAM_KERNEL(name, Args) bool (*name)(const Args&);
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL
};

/// Returns null if `isa` is not in this build or not available on this machine. kAuto: the best available one.
const Table* table(Isa isa);

}  // namespace bantam::kernels

#endif  // BANTAM_KERNELS_KERNELS_H_
