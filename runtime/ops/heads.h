// Queries, key pages and value pages: SplitHeads writes them and Attention reads them.
#ifndef BANTAM_OPS_HEADS_H_
#define BANTAM_OPS_HEADS_H_

#include "ops/operands.h"

namespace bantam::ops {

struct HeadShape {
  uint32_t heads;
  uint32_t kv_heads;
  uint32_t head_width;
};

inline bool hides_fillers(const fb::Attention& a) {
  return linked::kFillers && (a.mask() == fb::MaskKind::fillers || a.mask() == fb::MaskKind::window_fillers);
}
/// Returns true if only tokens with a mark, and the first one, are keys.
inline bool looks_at_marks(const fb::Attention& a) { return linked::kMarked && a.mask() == fb::MaskKind::marked; }
inline bool has_prefix(const fb::Attention& a) { return linked::kPrefix && a.mask() == fb::MaskKind::prefix; }

/// Tokens attend to those of one segment: their own, or that of the sequence's first token.
inline bool sees_own_segment(const fb::Attention& a) {
  return linked::kSegmentMasks && a.mask() == fb::MaskKind::segments;
}
inline bool sees_first_segment(const fb::Attention& a) {
  return linked::kSegmentMasks && a.mask() == fb::MaskKind::first_segment;
}
inline bool sees_a_segment(const fb::Attention& a) { return sees_own_segment(a) || sees_first_segment(a); }

/// Returns the kernels' mask for this attention, by the mask's row of links.inc: which keys a query may attend to.
inline kernels::Mask mask_of(const fb::Attention& a) {
  switch (a.mask()) {
#define BANTAM_LINK_MASK(name, Code, Kernel)                                     \
  case fb::MaskKind::name:                                                       \
    if (linked::is(linked::links::mask_##name)) return kernels::Mask::k##Kernel; \
    break;
#include "links.inc"
  }
  return kernels::Mask::kNone;
}

/// Checks that counts are positive and small enough for 32-bit products, and that heads is a multiple of kv_heads.
Verdict check_head_shape(const HeadShape& shape);

/// The same for SplitHeads, where queries, or keys and values, may be absent.
Verdict check_split_shape(const HeadShape& shape);

/// Checks that queries, keys and values are present exactly where the shape has heads of them (else -1).
Verdict check_present(const HeadShape& shape, int32_t q, int32_t k, int32_t v);

/// Checks that q, k and v are token tensors of this shape, all i8 or all f32, in their layouts; all tiles share k and
/// v. A tensor for which the shape has no heads is -1.
Verdict check_head_tensors(const Site& site, const HeadShape& shape, int32_t q, int32_t k, int32_t v);

/// Passes the tile and the heads to kernels that split rows.
template <class Args>
void bind_split(const TileRun& run, const fb::SplitHeads& split, Args* args) {
  args->row_begin = run.row_begin;
  args->rows = run.rows;
  args->heads = split.heads();
  args->kv_heads = split.kv_heads();
  args->head_width = split.head_width();
}

/// Returns true if a tensor of queries, keys or values is int8 in this run; with SessionOptions::f32_attention none is.
inline bool is_q8(const TileRun& run, const fb::Tensor& t) {
  return t.type() == fb::DType::i8 && (!linked::kHost || run.f32_heads == nullptr);
}

/// Returns the first byte of queries, keys or values. An int8 tensor that is f32 in this run lies at four times its
/// planned offset in a separate region: f32 rows and pages are at most four times as large as int8 ones with their
/// scales, so tensors that do not overlap in the plan do not overlap there.
inline uint8_t* head_base(const TileRun& run, const fb::Tensor& t) {
  if (!linked::kHost || t.type() != fb::DType::i8 || run.f32_heads == nullptr) return base(run, t);
  uint8_t* region = t.region() == fb::Region::tile ? run.f32_tile_heads : run.f32_heads;
  return region + 4 * evaluate(t.offset(), run.values);
}

/// Returns the first byte of the key or value pages of tensor `index`: in the arena's plan, in the contexts or in the
/// sources.
inline uint8_t* page_base(const TileRun& run, int32_t index) {
  if (linked::kSources && is_state(tensor(run.model, index))) return run.sources->pages + run.sources->begins[index];
  if (run.contexts != nullptr) return run.contexts->pages + run.contexts->begins[index];
  return head_base(run, tensor(run.model, index));
}

/// Returns the row of the keys and values of row `row` of the run, which belongs to `sequence`; in contexts it is
/// counted from their beginning.
inline uint32_t key_row(const TileRun& run, uint32_t sequence, uint32_t row) {
  return run.contexts == nullptr ? row : place_of(run, sequence, row);
}

/// Returns the first row, in the states, of the source that `sequence` writes or attends to.
inline uint32_t source_row(const TileRun& run, uint32_t sequence) {
  return run.sources->numbers[sequence] * run.sources->rows;
}

/// Returns the pages of the context that `sequence` continues; null without contexts.
inline const uint32_t* page_list(const TileRun& run, uint32_t sequence) {
  if (run.contexts == nullptr) return nullptr;
  return run.contexts->lists + size_t{run.contexts->numbers[sequence]} * run.contexts->list_pages;
}

/// Bytes of the f32 region that replaces `region` for these symbol values; grows with each of them.
uint64_t f32_heads_bytes(const fb::Model& model, fb::Region region, const uint32_t (&values)[kSymbols]);

/// Returns the f32 row of `columns` numbers that the context of `sequence` stores for its token number `place`, for
/// tensor `index`.
inline float* kept_row(const TileRun& run, int32_t index, uint32_t columns, uint32_t sequence, uint32_t place) {
  const uint32_t at = page_list(run, sequence)[place / 16] * 16 + place % 16;
  return reinterpret_cast<float*>(page_base(run, index)) + size_t{at} * kernels::pad16(columns);
}

/// Returns the state that the context of `sequence` keeps under tensor `index`: in front of this run, null for a text
/// without tokens; and behind it, which the run writes. A template, because contexts have no such fields if states are
/// not linked.
template <class Run>
const float* state_before([[maybe_unused]] const Run& run, [[maybe_unused]] int32_t index,
                          [[maybe_unused]] uint32_t sequence) {
  if constexpr (linked::kStates) {
    const auto& c = *run.contexts;
    if (c.past[sequence] == 0) return nullptr;
    return reinterpret_cast<const float*>(c.states + c.slots_before[sequence] * c.slot_bytes + c.state_begins[index]);
  } else {
    return nullptr;
  }
}
template <class Run>
float* state_behind([[maybe_unused]] const Run& run, [[maybe_unused]] int32_t index,
                    [[maybe_unused]] uint32_t sequence) {
  if constexpr (linked::kStates) {
    const auto& c = *run.contexts;
    return reinterpret_cast<float*>(c.states + c.slots_behind[sequence] * c.slot_bytes + c.state_begins[index]);
  } else {
    return nullptr;
  }
}

struct QueryRows {
  uint8_t* data;       // first row of the tensor
  float* scales;       // [row][heads]; null for f32
  size_t stride;       // elements
  uint32_t row_begin;  // row of this tile's first query in the tensor
};
inline QueryRows query_rows(const TileRun& run, int32_t index) {
  const fb::Tensor& t = tensor(run.model, index);
  const size_t stride = kernels::pad16(width(t));
  uint8_t* data = head_base(run, t);
  const uint32_t row_begin = t.region() == fb::Region::tile ? 0 : run.row_begin;
  if (!is_q8(run, t)) return {data, nullptr, stride, row_begin};
  return {data, reinterpret_cast<float*>(data + stride * run.values[rows_symbol(t)]), stride, row_begin};
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_HEADS_H_
