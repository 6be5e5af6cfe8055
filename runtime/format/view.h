// Typed access to a verified model, for the rest of the runtime: the FlatBuffer root, symbols, and the geometry of
// tensors (widths, strides, sizes). Each formula is defined once, for the verifier that checks it and the session that
// relies on it.
#ifndef BANTAM_FORMAT_VIEW_H_
#define BANTAM_FORMAT_VIEW_H_

#include <stddef.h>
#include <stdint.h>

#include "bantam/model.h"
#include "bantam_generated.h"
#include "kernels/kernels.h"
#include "linked.h"

namespace bantam {

/// Indices of the symbols that every file declares: they equal their roles.
constexpr uint32_t kTokens = static_cast<uint32_t>(fb::SymbolRole::tokens);
constexpr uint32_t kSequences = static_cast<uint32_t>(fb::SymbolRole::sequences);
constexpr uint32_t kTile = static_cast<uint32_t>(fb::SymbolRole::tile);
/// Number of symbols that this version executes; a file with another number is refused.
constexpr uint32_t kSymbols = 3;
/// Task.shift_id of decoders that begin with the source's last token.
constexpr int32_t kLastInFront = -2;

inline const fb::Model& root(const Model& model) { return *static_cast<const fb::Model*>(model.root()); }

/// The only subgraph of a version 1 file.
inline const fb::Subgraph& graph(const fb::Model& model) { return *model.subgraphs()->Get(0); }

inline const fb::Tensor& tensor(const fb::Model& model, int32_t index) {
  return *model.tensors()->Get(static_cast<flatbuffers::uoffset_t>(index));
}

/// Elements of a vector that may be absent.
template <typename T>
uint32_t count(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

/// Returns the tensor index at `position` of an operator's inputs or outputs; -1 if it is absent or omitted at the end.
inline int32_t operand(const flatbuffers::Vector<int32_t>* list, uint32_t position) {
  return position < count(list) ? list->Get(position) : -1;
}

inline Text as_text(const flatbuffers::String* string) {
  return string == nullptr ? Text{} : Text{string->c_str(), string->size()};
}

/// Rounds up; `multiple` must be a constant: small cores divide 64-bit numbers in a library function of some hundred
/// bytes.
[[gnu::always_inline]] constexpr uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Constants lie in the file, all other tensors in the arena.
inline bool is_constant(const fb::Tensor& t) { return t.role() == fb::Role::constant; }

/// Returns true if the tensor belongs to a source: the source pass writes it, and the session reserves memory for it.
inline bool is_state(const fb::Tensor& t) { return linked::kSources && t.role() == fb::Role::state; }

/// Extent of a dimension that does not depend on a symbol.
inline uint32_t extent(const fb::Tensor& t, uint32_t dimension) {
  return static_cast<uint32_t>(t.shape()->Get(dimension)->b());
}

/// Returns true for the layouts of the weights of an int8 linear layer.
inline bool int8_weights(const fb::Tensor& t) {
  return t.layout() == fb::Layout::tile_k4n16 || t.layout() == fb::Layout::k16n1;
}
// An image refuses files with layouts that it leaves out, so nothing asks for these layouts later.
inline bool int4_weights(const fb::Tensor& t) { return linked::kInt4 && t.layout() == fb::Layout::tile_i4_k8n16; }
inline bool ternary_weights(const fb::Tensor& t) {
  return linked::kTernary && t.layout() == fb::Layout::tile_ternary_k16n16;
}
inline bool sparse_weights(const fb::Tensor& t) { return linked::kSparse && t.layout() == fb::Layout::sparse_1x4; }
inline bool bitmask_weights(const fb::Tensor& t) { return linked::kBitmask && t.layout() == fb::Layout::bitmask_k4n16; }
/// Returns true for every layout of weights that a linear layer multiplies with i8 activations.
inline bool integer_weights(const fb::Tensor& t) {
  switch (t.layout()) {
#define BANTAM_WEIGHTS(layout, number, Format) \
  case fb::Layout::layout:                     \
    return linked::weights(linked::links::number);
#include "format/weights.inc"
#undef BANTAM_WEIGHTS
    default:
      return false;
  }
}
/// Bytes of sparse weights besides their steps, for `padded` outputs; and bytes of a step.
constexpr uint64_t sparse_order_bytes(uint32_t padded) { return uint64_t{padded} * 2; }
constexpr uint32_t kSparseStepBytes = 24;
/// Steps of sparse weights, computed from the length of their data.
inline size_t sparse_steps(const fb::Tensor& t, uint32_t padded) {
  return static_cast<size_t>(t.data()->size() - sparse_order_bytes(padded)) / kSparseStepBytes;
}
/// Bytes of the masks, which precede the weights.
inline size_t bitmask_bytes(const fb::Tensor& t) {
  return size_t{(extent(t, 0) + 15) / 16} * ((extent(t, 1) + 3) / 4) * sizeof(uint64_t);
}
/// Number of groups of int4 weights; the inputs of a group share factors.
inline uint32_t int4_groups(const fb::Tensor& t) { return kernels::int4_groups(extent(t, 1), t.group()); }

inline bool is_static(const fb::Op& op) { return op.numerics() == fb::Numerics::static_int; }

/// Returns true for i8 tensors without stored scales: operators of static quantization read and write them.
inline bool is_fixed(const fb::Tensor& t) { return linked::kStatic && t.scale_kind() == fb::ScaleKind::fixed; }

/// Number of columns of a matrix [rows, width].
inline uint32_t width(const fb::Tensor& t) { return extent(t, 1); }

/// The symbol that gives the number of rows of an arena tensor.
inline uint32_t rows_symbol(const fb::Tensor& t) { return static_cast<uint32_t>(t.shape()->Get(0)->symbol()); }

/// The properties of an arena tensor that determine the bytes of one of its rows.
struct RowForm {
  fb::DType type;
  fb::Layout layout;
  uint32_t width, heads;
  bool fixed;  // ScaleKind.fixed
};

/// Bytes per row of an arena tensor, scales included; its row count is a multiple of 16. Pages hold 16 rows, each with
/// the same share.
inline uint64_t row_bytes(const RowForm& row) {
  const bool q8 = row.type == fb::DType::i8;
  // Widths and heads are at most 2^22, and pages pad each head to 16 columns of 4 bytes: all fits in 32 bits.
  const uint32_t padded = kernels::pad16(row.width);
  switch (row.layout) {
    case fb::Layout::head_rows:
      return padded + row.heads * 4;
    case fb::Layout::key_pages:
      if (row.fixed) return row.heads * (kernels::static_key_page_bytes(row.width / row.heads) / 16);
      return row.heads * (kernels::key_page_bytes(row.width / row.heads, q8) / 16);
    case fb::Layout::value_pages:
      if (row.fixed) return row.heads * (kernels::static_value_page_bytes(row.width / row.heads) / 16);
      return row.heads * (kernels::value_page_bytes(row.width / row.heads, q8) / 16);
    default:
      return q8 ? padded + (row.fixed ? 0 : 4) : padded * 4;
  }
}
inline uint64_t row_bytes(const fb::Tensor& t) {
  return row_bytes({t.type(), t.layout(), width(t), t.heads(), is_fixed(t)});
}

/// Coefficient `i` (0: constant, 1 + s: of symbol s) of a plan entry; trailing zeros may be omitted.
inline uint32_t coefficient(const flatbuffers::Vector<uint32_t>* affine, uint32_t i) {
  return i < count(affine) ? affine->Get(i) : 0;
}

/// Value of the entry for these symbol values (each a multiple of its symbol's `multiple`).
inline uint64_t evaluate(const flatbuffers::Vector<uint32_t>* affine, const uint32_t (&values)[kSymbols]) {
  uint64_t sum = coefficient(affine, 0);
  for (uint32_t s = 0; s < kSymbols; ++s) sum += uint64_t{coefficient(affine, 1 + s)} * values[s];
  return sum;
}

/// Returns the input of this kind, or null.
inline const fb::Input* find_input(const fb::Model& model, fb::InputKind kind) {
  for (uint32_t i = 0; i < count(model.inputs()); ++i) {
    if (model.inputs()->Get(i)->kind() == kind) return model.inputs()->Get(i);
  }
  return nullptr;
}

/// Returns true if there is a source pass: the model is an encoder-decoder, or retrieves sources for chunks.
inline bool has_source(const fb::Model& model) {
  return linked::kSources && find_input(model, fb::InputKind::source_ids) != nullptr;
}

/// Tokens of a chunk for which sources are retrieved; 0: the model retrieves none.
inline uint32_t chunk_tokens(const fb::Model& model) { return linked::kChunks ? model.chunk() : 0; }

// Properties of a pass that the model has: the input with its token ids, the most tokens of a sequence (0: no limit),
// and the bytes of its plan.
inline const fb::Input* ids_input(const fb::Model& model, fb::Phase phase) {
  const bool source = linked::kSources && phase == fb::Phase::source;
  return find_input(model, source ? fb::InputKind::source_ids : fb::InputKind::ids);
}
inline uint32_t longest_sequence(const fb::Model& model, fb::Phase phase) {
  return linked::kSources && phase == fb::Phase::source ? model.max_source() : model.max_sequence();
}
using Affine = flatbuffers::Vector<uint32_t>;
inline const Affine* plan_bytes(const fb::Model& model, fb::Phase phase, fb::Region region) {
  if (linked::kSources && phase == fb::Phase::source) {
    return region == fb::Region::tile ? model.source_tile_bytes() : model.source_shared_bytes();
  }
  return region == fb::Region::tile ? model.tile_bytes() : model.shared_bytes();
}

/// Legal segment ids are [0, segment_types): 1 if the model has no segments.
inline uint32_t segment_types(const fb::Model& model) {
  const fb::Input* segments = find_input(model, fb::InputKind::segments);
  return segments == nullptr ? 1 : segments->limit();
}

/// Legal marks are [0, mark_types): 1 if the model takes none.
inline uint32_t mark_types(const fb::Model& model) {
  const fb::Input* marks = linked::kMarks ? find_input(model, fb::InputKind::marks) : nullptr;
  return marks == nullptr ? 1 : marks->limit();
}

/// Numbers in a token's row of features; 0 if the model takes none.
inline uint32_t feature_width(const fb::Model& model) {
  const fb::Input* features = linked::kFeatures ? find_input(model, fb::InputKind::features) : nullptr;
  return features == nullptr ? 0 : features->limit();
}

/// Rows of features of one image.
inline uint32_t image_tokens(const fb::Image& image) {
  return image.in_front() + image.behind() + (image.height() / image.patch()) * (image.width() / image.patch());
}

}  // namespace bantam

#endif  // BANTAM_FORMAT_VIEW_H_
