#include "format/header.h"
#include "kernels/kernels.h"
#include "model/verify.h"
#include "ops/ops.h"
#include "ops/weights.h"

namespace bantam {
namespace {

constexpr uint32_t kMaxRank = 6;

constexpr uint32_t bit(fb::Layout layout) { return 1u << static_cast<uint32_t>(layout); }

/// The layouts that this build leaves out and that format/view.h would mistake for others; one bit each. 0 if
/// everything is linked.
constexpr uint32_t kLayoutsLeftOut = 0
#define BANTAM_WEIGHTS(layout, number, Format) | (linked::weights(linked::links::number) ? 0 : bit(fb::Layout::layout))
#include "format/weights.inc"
#undef BANTAM_WEIGHTS
    ;

Verdict check_enums(const fb::Tensor& t) {
  constexpr fb::Role kLastRole = linked::kSources ? fb::Role::MAX : fb::Role::output;
  if (t.type() > fb::DType::MAX || t.role() > kLastRole || t.region() > fb::Region::MAX ||
      t.scale_kind() > fb::ScaleKind::MAX || t.source_type() > fb::DType::MAX) {
    return corrupt("a tensor's type, role, region or kind of scale is unknown");
  }
  if (t.layout() > fb::Layout::MAX) {
    return unsupported("tensors of this layout are not executed");
  }
  const bool left_out = (kLayoutsLeftOut >> static_cast<uint32_t>(t.layout()) & 1) != 0 ||
                        (!linked::kStatic && t.scale_kind() == fb::ScaleKind::fixed);
  return left_out ? not_linked("this build leaves out tensors of this layout or kind of scale") : Verdict{};
}

Verdict check_shape(const fb::Tensor& t) {
  const uint32_t rank = count(t.shape());
  if (rank == 0 || rank > kMaxRank) return corrupt("a tensor has no dimensions or too many");
  for (const fb::Dim* dim : *t.shape()) {
    if (dim->symbol() < -1 || dim->symbol() >= static_cast<int32_t>(kSymbols)) {
      return corrupt("a dimension's symbol is unknown");
    }
    if (dim->symbol() == -1 && (dim->a() != 0 || dim->b() <= 0 || dim->c() != 1)) {
      return corrupt("a constant dimension is not a positive number");
    }
    if (dim->symbol() >= 0 && (dim->a() != 1 || dim->b() != 0 || dim->c() != 1)) {
      return unsupported("dimensions other than a symbol itself are not executed");
    }
  }
  return {};
}

/// Checks that the blob lies in the data section and has at least `count` elements of 2^shift bytes. The file fits
/// size_t, so its numbers must, too.
Verdict check_blob(const fb::Blob* blob, size_t count, uint32_t shift, size_t data_size) {
  if (blob == nullptr || blob->size() == 0) {
    return count == 0 ? Verdict{} : corrupt("data that the tensor needs is absent");
  }
  if (blob->segment() != 0) return unsupported("data outside the file is not read");
  const auto offset = static_cast<size_t>(blob->offset());
  const auto size = static_cast<size_t>(blob->size());
  if (offset % kFileAlignment != 0) return corrupt("data is not 64-byte aligned");
  if (offset != blob->offset() || size != blob->size() || offset > data_size || size > data_size - offset) {
    return corrupt("data lies outside the data section");
  }
  return size >> shift >= count ? Verdict{} : corrupt("data is smaller than the tensor's shape");
}

/// Base-2 logarithm of the bytes of one element.
uint32_t element_shift(fb::DType type) {
  switch (type) {
    case fb::DType::i8:
    case fb::DType::u8:
    case fb::DType::i4:       // two per byte: see stored_elements
    case fb::DType::ternary:  // four
      return 0;
    case fb::DType::f16:
    case fb::DType::bf16:
    case fb::DType::i16:
      return 1;
    case fb::DType::f32:
    case fb::DType::i32:
    case fb::DType::u32:
      return 2;
    case fb::DType::i64:
      break;
  }
  return 3;
}

/// Returns the extent of a constant dimension, which is less than 2^31, rounded up to `multiple`, a power of two.
uint32_t padded_extent(const fb::Tensor& t, uint32_t dimension, uint32_t multiple) {
  return (extent(t, dimension) + multiple - 1) & ~(multiple - 1);
}

/// Counts the stored elements, including padding; for integer weights the least number of bytes.
Verdict stored_elements(const fb::Tensor& t, size_t* elements) {
  const uint32_t rank = t.shape()->size();
  if (integer_weights(t)) {
    const uint64_t bytes = ops::with_weights(t, [&t](auto format) {
      return static_cast<uint64_t>(decltype(format)::bytes(padded_extent(t, 0, 16), extent(t, 1)));
    });
    *elements = static_cast<size_t>(bytes);
    return *elements == bytes ? Verdict{} : corrupt("a tensor's shape is too large");
  }
  size_t product = rank == 1 ? padded_extent(t, 0, 16) : 1;
  for (uint32_t d = 0; d < rank && rank != 1; ++d) {
    const size_t size = padded_extent(t, d, d == 0 && t.layout() != fb::Layout::rows ? 16 : 1);
    if (__builtin_mul_overflow(product, size, &product)) {
      return corrupt("a tensor's shape is too large");
    }
  }
  *elements = product;
  return {};
}

/// Counts the floats of scales, at most 2^31.
Verdict count_scales(const fb::Tensor& t, uint32_t* scales) {
  *scales = 0;
  switch (t.scale_kind()) {
    case fb::ScaleKind::none:
    case fb::ScaleKind::fixed:
      return {};
    case fb::ScaleKind::per_output:
      *scales = padded_extent(t, 0, 16);
      return {};
    case fb::ScaleKind::per_group:  // four factors replace one scale
      if (linked::kInt4 &&
          __builtin_mul_overflow(size_t{padded_extent(t, 0, 16)} / 4, size_t{4} + int4_groups(t), scales)) {
        return corrupt("a tensor's shape is too large");
      }
      return {};
    case fb::ScaleKind::per_row:
      *scales = extent(t, 0);
      return {};
    default:
      return unsupported("constants with this kind of scale are not executed");
  }
}

Verdict check_constant(const fb::Tensor& t, size_t data_size) {
  for (const fb::Dim* dim : *t.shape()) {
    if (dim->symbol() != -1) return corrupt("a constant's shape depends on a symbol");
  }
  if ((t.type() == fb::DType::i4) != int4_weights(t) ||
      (t.scale_kind() == fb::ScaleKind::per_group) != int4_weights(t)) {
    return corrupt("int4 weights want tiles of their own and factors for groups of inputs");
  }
  if ((t.type() == fb::DType::ternary) != ternary_weights(t)) return corrupt("ternary weights want tiles of their own");
  if (int4_weights(t) && (t.group() == 0 || t.group() % 8 != 0 || t.group() > kernels::kMostInt4Group)) {
    return corrupt("a group of inputs is not a multiple of 8, or of too many");
  }
  if (t.layout() != fb::Layout::rows && t.shape()->size() != 2) return corrupt("tiled weights are not a matrix");
  const uint32_t sums = integer_weights(t) ? padded_extent(t, 0, 16) : 0;
  if (integer_weights(t)) {
    const bool fixed = is_fixed(t) && (int8_weights(t) || sparse_weights(t));
    const fb::DType type = ternary_weights(t) ? fb::DType::ternary : fb::DType::i8;
    if (!int4_weights(t) && (t.type() != type || (t.scale_kind() != fb::ScaleKind::per_output && !fixed)))
      return corrupt("int8 weight tiles want type i8 and a scale for each output, or fixed ones");
  } else if (t.layout() == fb::Layout::tile_n16) {
    if (t.type() != fb::DType::f32 && t.type() != fb::DType::f16)
      return corrupt("float weight tiles want type f32 or f16");
  } else if (t.layout() != fb::Layout::rows) {
    return corrupt("a constant has the layout of an activation");
  }
  if (t.fits_words() && (!integer_weights(t) || int4_weights(t) || ternary_weights(t)))
    return corrupt("weights that are not int8 are said to fit words");
  size_t elements = 0;
  uint32_t scales = 0;
  BANTAM_CHECK(stored_elements(t, &elements));
  BANTAM_CHECK(count_scales(t, &scales));
  BANTAM_CHECK(check_blob(t.data(), elements, element_shift(t.type()), data_size));
  BANTAM_CHECK(check_blob(t.scales(), scales, 2, data_size));
  return check_blob(t.sums(), sums, 2, data_size);
}

/// Checks that offsets are 64-byte aligned for all symbol values. check_plan, which knows the tensor's pass, checks
/// that it ends inside its region.
Verdict check_place(const fb::Model& model, const fb::Tensor& t) {
  const bool in_tile = t.region() == fb::Region::tile;
  if (count(t.offset()) > 1 + kSymbols) return corrupt("the plan names unknown symbols");
  for (uint32_t i = 0; i <= kSymbols; ++i) {
    const uint32_t multiple = i == 0 ? 1 : model.symbols()->Get(i - 1)->multiple();
    const uint32_t begin = coefficient(t.offset(), i);
    if (begin * multiple % 64 != 0) return corrupt("a tensor's place in the arena is not 64-byte aligned");
    // Steps choose the tile size; tile tensors do not depend on the run's lengths.
    if (i > 0 && begin != 0 && in_tile != (i == 1 + kTile)) {
      return corrupt("a tensor's place depends on another region's symbol");
    }
  }
  return {};
}

Verdict check_activation(const fb::Model& model, const fb::Tensor& t) {
  const auto& shape = *t.shape();
  if (shape.size() != 2 || shape.Get(0)->symbol() < 0 || shape.Get(1)->symbol() != -1) {
    return unsupported("an activation that is not rows of a fixed width");
  }
  if (width(t) > ops::kMaxWidth) return unsupported("an activation is too wide");
  if ((t.region() == fb::Region::tile) != (rows_symbol(t) == kTile)) {
    return corrupt("tile rows belong in the tile region");
  }
  const bool q8 = t.type() == fb::DType::i8;
  if (!q8 && t.type() != fb::DType::f32) return unsupported("activations of this type are not executed");
  fb::ScaleKind scales = fb::ScaleKind::none;
  switch (t.layout()) {
    case fb::Layout::rows:
      if (q8) scales = fb::ScaleKind::per_row;
      break;
    case fb::Layout::head_rows:
      if (!q8) return corrupt("head rows are i8");
      [[fallthrough]];
    case fb::Layout::key_pages:
    case fb::Layout::value_pages:
      if (t.heads() == 0 || width(t) % t.heads() != 0) return corrupt("the width is not a multiple of the heads");
      if (q8) scales = fb::ScaleKind::per_row_head;
      break;
    default:
      return corrupt("an activation has the layout of a weight");
  }
  if (is_state(t)) {
    const bool pages = t.layout() == fb::Layout::key_pages || t.layout() == fb::Layout::value_pages;
    const bool rows = t.layout() == fb::Layout::rows && !q8 &&
                      (rows_symbol(t) == kSequences || (linked::op(linked::kOpAlign) && rows_symbol(t) == kTokens));
    const bool known = rows || (pages && rows_symbol(t) == kTokens);
    if (!known || t.scale_kind() != scales || count(t.offset()) != 0) {
      return corrupt("a state is neither keys or values of tokens nor f32 rows");
    }
    return {};
  }
  const bool fixed = q8 && is_fixed(t) && t.layout() != fb::Layout::head_rows;
  if (t.scale_kind() != scales && !fixed)
    return corrupt("an activation's kind of scale does not fit its type and layout");
  return check_place(model, t);
}

}  // namespace

Verdict check_tensor(const fb::Model& model, int32_t index, size_t data_size) {
  const fb::Tensor& t = tensor(model, index);
  BANTAM_CHECK(check_enums(t));
  BANTAM_CHECK(check_shape(t));
  if (static_cast<uint32_t>(t.alias()) + 1 > model.tensors()->size()) {
    return corrupt("a tensor shares the data of one that does not exist");
  }
  return is_constant(t) ? check_constant(t, data_size) : check_activation(model, t);
}

Verdict check_contents(const fb::Model& model, const uint8_t* data, size_t data_size) {
  size_t unread = data_size;  // bounds the total time even if tensors share bytes
  for (uint32_t i = 0; i < model.tensors()->size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    const fb::Tensor& t = tensor(model, index);
    if (!is_constant(t) || !ops::with_weights(t, [](auto format) { return decltype(format)::kChecked; })) continue;
    const auto size = static_cast<size_t>(t.data()->size());
    if (size > unread) return corrupt("weights whose data is checked share it", index);
    unread -= size;
    const uint8_t* bytes = data + static_cast<size_t>(t.data()->offset());
    const Verdict verdict = ops::with_weights(t, [&](auto format) { return decltype(format)::check(t, bytes); });
    if (!verdict.ok()) return verdict.of(index);
  }
  return {};
}

}  // namespace bantam
