// Walks the tables that the schema can reach with a stack of its own.
#include "model/structure.h"

#include "bantam_generated.h"
#include "language.h"
#include "linked.h"

namespace bantam::structure {
namespace {

/// The schema's tables. The members of the union stand together, in its order.
template <typename... Types>
struct List {
  template <typename T>
  static constexpr uint32_t number() {
    const bool same[] = {kSame<T, Types>...};
    for (uint32_t i = 0; i < sizeof...(Types); ++i) {
      if (same[i]) return i;
    }
    return sizeof...(Types);
  }
  static constexpr uint32_t kCount = sizeof...(Types);
};

using Tables =
    List<fb::Model, fb::Embed, fb::Linear, fb::Row, fb::SplitHeads, fb::Attention, fb::Pool, fb::Slice, fb::Crf,
         fb::Unfold, fb::Recurrent, fb::Spans, fb::Select, fb::Tree, fb::Features, fb::Previous, fb::RecurrentCell,
         fb::Align, fb::Join, fb::Experts, fb::AdaptiveSoftmax, fb::KeySums, fb::LinearAttention, fb::Depthwise,
         fb::ChunkAttention, fb::Symbol, fb::Tensor, fb::Epilogue, fb::EmbedTable, fb::Integer, fb::Op, fb::Step,
         fb::Subgraph, fb::Input, fb::Output, fb::Normalizer, fb::Splitter, fb::TokenModel, fb::AddedToken,
         fb::TokenizerBlob, fb::Tokenizer, fb::LabelSet, fb::Generation, fb::Language, fb::Task, fb::Chat, fb::Finding,
         fb::Property, fb::Image, fb::Shortlist, fb::Globals>;
constexpr uint32_t kUnionMembers = static_cast<uint32_t>(fb::OpAttributes::MAX);
constexpr uint32_t kUnionBase = Tables::number<fb::Embed>() - static_cast<uint32_t>(fb::OpAttributes::Embed);
static_assert(Tables::number<fb::ChunkAttention>() == kUnionBase + kUnionMembers);

/// Whether something of this build reads tables of this type. What leads to others is checked, but not followed: a file has them
/// from a converter that knows more than the image, and an image holds no description of what it never reads.
template <typename T>
constexpr bool is_read() {
  if constexpr (fb::OpAttributesTraits<T>::enum_value != fb::OpAttributes::NONE) {
    constexpr auto kKind = fb::OpAttributesTraits<T>::enum_value;
    uint32_t rows = 0;
#define BANTAM_OP(name, kind, ...) rows |= fb::OpAttributes::kind == kKind ? 1u << linked::kOp##name : 0u;
#include "ops/ops.inc"
#undef BANTAM_OP
    return (rows & (BANTAM_LINK_OPS)) != 0;
  }
  constexpr bool kOfTokenizer = kSame<T, fb::Tokenizer> || kSame<T, fb::TokenizerBlob> || kSame<T, fb::Normalizer> ||
                                kSame<T, fb::Splitter> || kSame<T, fb::TokenModel> || kSame<T, fb::AddedToken>;
  if (kOfTokenizer) return linked::kTokenizer;
  if (kSame<T, fb::Integer>) return linked::kStatic;
  if (kSame<T, fb::Chat>) return linked::kContexts;
  if (kSame<T, fb::Finding>) return linked::kFind;
  if (kSame<T, fb::Image>) return linked::kFeatures;
  if (kSame<T, fb::Shortlist>) return linked::kSources;
  return true;
}

template <typename T>
struct Code {  // of a table by offset
  static_assert(Tables::number<T>() < Tables::kCount && Tables::kCount < 0x40);
  static constexpr uint8_t kVectorElement = is_read<T>() ? kTables | Tables::number<T>() : uint8_t{kVector4};
};
template <uint32_t kBytes>
constexpr uint8_t vector_of() {
  constexpr uint8_t code = kBytes == 1    ? kVector1
                           : kBytes == 2  ? kVector2
                           : kBytes == 4  ? kVector4
                           : kBytes == 8  ? kVector8
                           : kBytes == 12 ? kVector12
                                          : kVector16;
  static_assert(code != kVector16 || kBytes == 16);
  return code;
}
template <typename Struct>
constexpr uint8_t struct_of() {
  static_assert(sizeof(Struct) == 8 || sizeof(Struct) == 16 || sizeof(Struct) == 24);
  static_assert(alignof(Struct) == (sizeof(Struct) == 24 ? 8 : 4));
  return sizeof(Struct) == 8 ? kStruct8 : sizeof(Struct) == 16 ? kStruct16 : kStruct24;
}

/// The code of a field by the type that its accessor returns.
template <typename T>
struct FieldCode {
  static_assert(!__is_class(T));
  static constexpr uint8_t kCode = sizeof(T) == 1   ? kBytes1
                                   : sizeof(T) == 2 ? kBytes2
                                   : sizeof(T) == 4 ? kBytes4
                                                    : kBytes8;
};
template <typename T>
struct FieldCode<const T*> {
  static constexpr uint8_t code() {
    if constexpr (Tables::number<T>() < Tables::kCount) {
      return is_read<T>() ? kTable | Tables::number<T>() : uint8_t{kBytes4};
    } else {
      return struct_of<T>();
    }
  }
  static constexpr uint8_t kCode = code();
};
template <>
struct FieldCode<const void*> {
  static constexpr uint8_t kCode = kUnion;
};
template <>
struct FieldCode<const flatbuffers::String*> {
  static constexpr uint8_t kCode = kString;
};
template <typename T>
struct FieldCode<const flatbuffers::Vector<T>*> {
  static constexpr uint8_t kCode = vector_of<sizeof(T)>();
};
template <typename T>
struct FieldCode<const flatbuffers::Vector<const T*>*> {
  static constexpr uint8_t kCode = vector_of<sizeof(T)>();
};
template <typename T>
struct FieldCode<const flatbuffers::Vector<flatbuffers::Offset<T>>*> {
  static constexpr uint8_t kCode = Code<T>::kVectorElement;
};
template <>
struct FieldCode<const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>*> {
  static constexpr uint8_t kCode = kStrings;
};

struct Field {
  uint32_t table;
  uint8_t code;
  bool read;  // is_read
};

template <typename Table, typename Result>
constexpr Field field(Result (Table::*)() const) {
  return {Tables::number<Table>(), FieldCode<Result>::kCode, is_read<Table>()};
}
template <typename Table, typename Result>
constexpr Field required(Result (Table::*)() const) {
  constexpr uint8_t code = FieldCode<Result>::kCode;
  static_assert((code & kFormMask) == kLeaf || (code & kFormMask) == kTables);
  return {Tables::number<Table>(),
          static_cast<uint8_t>(code | ((code & kFormMask) == kLeaf ? kRequiredLeaf : kRequiredTables)),
          is_read<Table>()};
}

// Every table's fields in the schema's order; tests/model/structure_test.cpp compares with flatc's own description.
constexpr Field kList[] = {
    // Model
    field(&fb::Model::tool), field(&fb::Model::name), field(&fb::Model::architecture), field(&fb::Model::licence),
    field(&fb::Model::description), required(&fb::Model::symbols), required(&fb::Model::tensors),
    required(&fb::Model::subgraphs), field(&fb::Model::inputs), field(&fb::Model::outputs),
    field(&fb::Model::tokenizers), field(&fb::Model::task), field(&fb::Model::max_sequence),
    field(&fb::Model::shared_bytes), field(&fb::Model::tile_bytes), field(&fb::Model::properties),
    field(&fb::Model::max_source), field(&fb::Model::source_shared_bytes), field(&fb::Model::source_tile_bytes),
    field(&fb::Model::source_tokenizer), field(&fb::Model::image), field(&fb::Model::globals), field(&fb::Model::chunk),
    // Operators
    field(&fb::Embed::tables),                                                                         //
    field(&fb::Linear::only_globals), field(&fb::Linear::saturations), field(&fb::Linear::sum_terms),  //
    field(&fb::SplitHeads::heads), field(&fb::SplitHeads::kv_heads), field(&fb::SplitHeads::head_width),
    field(&fb::SplitHeads::rotary), field(&fb::SplitHeads::norms), field(&fb::SplitHeads::epsilon),
    field(&fb::SplitHeads::each_head), field(&fb::SplitHeads::norm),  //
    field(&fb::Attention::heads), field(&fb::Attention::kv_heads), field(&fb::Attention::head_width),
    field(&fb::Attention::scale), field(&fb::Attention::mask), field(&fb::Attention::window),
    field(&fb::Attention::distance_bias), field(&fb::Attention::slopes), field(&fb::Attention::place_rows),
    field(&fb::Attention::place_keys), field(&fb::Attention::place_queries), field(&fb::Attention::shared_places),
    field(&fb::Attention::segment_keys), field(&fb::Attention::filler), field(&fb::Attention::soft_cap),
    field(&fb::Attention::cross), field(&fb::Attention::dilation), field(&fb::Attention::block),
    field(&fb::Attention::full_until), field(&fb::Attention::random),
    field(&fb::Attention::random_blocks),                                       //
    field(&fb::Pool::kind), field(&fb::Pool::l2), field(&fb::Pool::skip_last),  //
    field(&fb::Slice::begin), field(&fb::Slice::width),                         //
    field(&fb::Crf::skip_first), field(&fb::Crf::skip_last),                    //
    field(&fb::Unfold::before), field(&fb::Unfold::after),                      //
    field(&fb::Recurrent::cell), field(&fb::Recurrent::direction), field(&fb::Recurrent::after),
    field(&fb::Recurrent::mark),                                                    //
    field(&fb::Spans::width), field(&fb::Spans::labels),                            //
    field(&fb::Select::rank), field(&fb::Select::mean),                             //
    field(&fb::RecurrentCell::cell),                                                //
    field(&fb::Align::scale), field(&fb::Align::place), field(&fb::Align::window),  //
    field(&fb::Experts::experts), field(&fb::Experts::top), field(&fb::Experts::outputs),
    field(&fb::Experts::activation), field(&fb::Experts::gated), field(&fb::Experts::normalized),
    field(&fb::Experts::capacity), field(&fb::KeySums::kind), field(&fb::KeySums::heads), field(&fb::KeySums::features),
    field(&fb::KeySums::epsilon), field(&fb::LinearAttention::kind), field(&fb::LinearAttention::heads),
    field(&fb::LinearAttention::features), field(&fb::LinearAttention::epsilon),  //
    field(&fb::Depthwise::before), field(&fb::Depthwise::after),                  //
    field(&fb::ChunkAttention::heads), field(&fb::ChunkAttention::chunk), field(&fb::ChunkAttention::before),
    field(&fb::ChunkAttention::after), field(&fb::ChunkAttention::full_until), field(&fb::ChunkAttention::multiple),
    field(&fb::ChunkAttention::causal), field(&fb::ChunkAttention::scale), field(&fb::ChunkAttention::rounds),
    field(&fb::ChunkAttention::buckets), field(&fb::ChunkAttention::epsilon),
    // Symbol, Tensor
    required(&fb::Symbol::name), field(&fb::Symbol::role), field(&fb::Symbol::multiple), required(&fb::Tensor::name),
    field(&fb::Tensor::type), field(&fb::Tensor::layout), field(&fb::Tensor::role), field(&fb::Tensor::region),
    required(&fb::Tensor::shape), field(&fb::Tensor::heads), field(&fb::Tensor::data), field(&fb::Tensor::scale_kind),
    field(&fb::Tensor::scales), field(&fb::Tensor::sums), field(&fb::Tensor::group), field(&fb::Tensor::offset),
    field(&fb::Tensor::source), field(&fb::Tensor::error), field(&fb::Tensor::source_type),
    field(&fb::Tensor::source_bytes), field(&fb::Tensor::alias), field(&fb::Tensor::tag),
    field(&fb::Tensor::fits_words),
    // Parts of operators
    field(&fb::Epilogue::activation), field(&fb::Epilogue::residual), field(&fb::Epilogue::norm),
    field(&fb::Epilogue::gamma), field(&fb::Epilogue::beta), field(&fb::Epilogue::epsilon),
    field(&fb::Epilogue::smooth), field(&fb::Epilogue::gate), field(&fb::Epilogue::store_sum),  //
    field(&fb::EmbedTable::tensor), field(&fb::EmbedTable::source), field(&fb::EmbedTable::offset),
    field(&fb::EmbedTable::scale), field(&fb::EmbedTable::multiplier), field(&fb::EmbedTable::shift),  //
    field(&fb::Integer::multiplier), field(&fb::Integer::pre_shift), field(&fb::Integer::post_shift),
    field(&fb::Integer::table), field(&fb::Integer::residual_multiplier), field(&fb::Integer::residual_shift),
    field(&fb::Integer::norm_shift), field(&fb::Integer::epsilon),
    // Graph
    field(&fb::Op::name), field(&fb::Op::version), field(&fb::Op::numerics), field(&fb::Op::features),
    field(&fb::Op::fallback), field(&fb::Op::inputs), field(&fb::Op::outputs), field(&fb::Op::attributes_type),
    required(&fb::Op::attributes), field(&fb::Op::epilogue), field(&fb::Op::integer), field(&fb::Op::scratch),
    field(&fb::Op::tag),                                                                                      //
    field(&fb::Step::first_op), field(&fb::Step::op_count), field(&fb::Step::rows), field(&fb::Step::phase),  //
    field(&fb::Subgraph::name), required(&fb::Subgraph::ops), required(&fb::Subgraph::steps),
    // Inputs, outputs
    required(&fb::Input::name), field(&fb::Input::kind), field(&fb::Input::limit),
    field(&fb::Input::names),  //
    required(&fb::Output::name), field(&fb::Output::role), field(&fb::Output::tensor), field(&fb::Output::squeeze),
    field(&fb::Output::debug), field(&fb::Output::phase),
    // Tokenizer
    field(&fb::Normalizer::kind), field(&fb::Normalizer::clean_text), field(&fb::Normalizer::split_chinese),
    field(&fb::Normalizer::lowercase), field(&fb::Normalizer::strip_accents), field(&fb::Normalizer::table),
    field(&fb::Normalizer::compose), field(&fb::Normalizer::text), field(&fb::Normalizer::content),
    field(&fb::Normalizer::least), field(&fb::Normalizer::left), field(&fb::Normalizer::right),  //
    field(&fb::Splitter::kind), field(&fb::Splitter::prefix_blank), field(&fb::Splitter::first_only),
    field(&fb::Splitter::white_words), field(&fb::Splitter::whole),  //
    field(&fb::TokenModel::kind), field(&fb::TokenModel::unknown_id), field(&fb::TokenModel::max_word_chars),
    field(&fb::TokenModel::continuing_prefix), field(&fb::TokenModel::whole_words),
    field(&fb::TokenModel::unknown_score), field(&fb::TokenModel::traits), field(&fb::TokenModel::buckets),
    field(&fb::TokenModel::min_gram), field(&fb::TokenModel::max_gram), field(&fb::TokenModel::word_grams),
    field(&fb::TokenModel::end_word), field(&fb::TokenModel::skip_prefix), field(&fb::TokenModel::hidden_from),
    required(&fb::AddedToken::text), field(&fb::AddedToken::id), field(&fb::AddedToken::special),
    field(&fb::AddedToken::single_word), field(&fb::AddedToken::lstrip), field(&fb::AddedToken::rstrip),
    field(&fb::AddedToken::normalized),                                //
    field(&fb::TokenizerBlob::name), field(&fb::TokenizerBlob::data),  //
    field(&fb::Tokenizer::name), field(&fb::Tokenizer::normalizers), field(&fb::Tokenizer::splitters),
    field(&fb::Tokenizer::model), field(&fb::Tokenizer::vocab_size), field(&fb::Tokenizer::blobs),
    field(&fb::Tokenizer::added_tokens), field(&fb::Tokenizer::single), field(&fb::Tokenizer::pair),
    field(&fb::Tokenizer::truncation), field(&fb::Tokenizer::truncate_left), field(&fb::Tokenizer::max_length),
    field(&fb::Tokenizer::pad_id), field(&fb::Tokenizer::cls_id), field(&fb::Tokenizer::sep_id),
    field(&fb::Tokenizer::mask_id), field(&fb::Tokenizer::trim_blanks), field(&fb::Tokenizer::trim_prefix),
    // Task, provenance
    field(&fb::LabelSet::output), field(&fb::LabelSet::labels), field(&fb::LabelSet::scheme),
    field(&fb::LabelSet::threshold), field(&fb::LabelSet::temperature), field(&fb::LabelSet::reject_below),
    field(&fb::LabelSet::name), field(&fb::LabelSet::parents),  //
    field(&fb::Generation::name), field(&fb::Generation::prefix), field(&fb::Generation::start_id),
    field(&fb::Generation::first_id), field(&fb::Generation::last_id), field(&fb::Generation::banned),
    field(&fb::Generation::max_new), field(&fb::Generation::min_new), field(&fb::Generation::beams),
    field(&fb::Generation::length_penalty), field(&fb::Generation::early_stopping),
    field(&fb::Generation::no_repeat_ngram), field(&fb::Generation::repetition_penalty),  //
    required(&fb::Language::code), field(&fb::Language::token),                           //
    field(&fb::Task::kind), field(&fb::Task::label_sets), field(&fb::Task::max_answer_tokens),
    field(&fb::Task::no_answer), field(&fb::Task::no_answer_threshold), field(&fb::Task::prompt),
    field(&fb::Task::blank_words), field(&fb::Task::end_ids), field(&fb::Task::generations),
    field(&fb::Task::languages), field(&fb::Task::language_place), field(&fb::Task::shift_id), field(&fb::Task::chat),
    field(&fb::Task::finding), field(&fb::Task::beam_ends), field(&fb::Task::shortlist),  //
    field(&fb::Chat::begin), field(&fb::Chat::system_before), field(&fb::Chat::system_after),
    field(&fb::Chat::user_before), field(&fb::Chat::user_after), field(&fb::Chat::assistant_before),
    field(&fb::Chat::assistant_after), field(&fb::Chat::answer), field(&fb::Chat::default_system),
    field(&fb::Chat::system_place), field(&fb::Chat::strips), field(&fb::Chat::always_system),  //
    field(&fb::Finding::label_id), field(&fb::Finding::text_id), field(&fb::Finding::behind),
    field(&fb::Finding::max_words), field(&fb::Finding::max_labels), field(&fb::Finding::threshold),  //
    required(&fb::Property::key), field(&fb::Property::value),                                        //
    field(&fb::Image::width), field(&fb::Image::height), field(&fb::Image::channels), field(&fb::Image::patch),
    field(&fb::Image::in_front), field(&fb::Image::behind), field(&fb::Image::factor), field(&fb::Image::shift),
    field(&fb::Image::filter), field(&fb::Image::shortest), field(&fb::Image::resize_width),
    field(&fb::Image::resize_height),  //
    field(&fb::Shortlist::words), field(&fb::Shortlist::first), field(&fb::Shortlist::multiple),
    field(&fb::Shortlist::shared), field(&fb::Shortlist::source_words), field(&fb::Shortlist::lists),  //
    field(&fb::Globals::kind), field(&fb::Globals::separator)};
constexpr uint32_t count_fields() {
  uint32_t count = 0;
  for (const Field& field : kList) count += field.read ? 1 : 0;
  return count;
}
constexpr uint32_t kFieldCount = count_fields();
static_assert(kFieldCount <= UINT16_MAX);
using FieldNumber = Choose<!linked::kHost && kFieldCount <= UINT8_MAX, uint8_t, uint16_t>;  // hosts show it (schema)

struct Tabulated {
  uint8_t fields[kFieldCount] = {};
  FieldNumber begin[Tables::kCount + 1] = {};
  bool in_order = true;

  constexpr Tabulated() {
    uint32_t table = 0, number = 0;
    for (const Field& field : kList) {
      in_order = in_order && field.table >= table;
      while (table < field.table) begin[++table] = static_cast<FieldNumber>(number);
      if (field.read) fields[number++] = field.code;
    }
    while (table < Tables::kCount) begin[++table] = static_cast<FieldNumber>(number);
  }
};
static_assert(Tabulated().in_order);
constexpr Tabulated kSchema;

/// Offset of the root table, a table's offset of its vtable, sizes of vtable and table.
constexpr uint32_t kLeastBytes = 4 + 4 + 2 + 2;
/// Offsets are signed 32-bit numbers.
constexpr uint64_t kMostBytes = (uint64_t{1} << 31) - 2;

/// A table whose fields are being checked; or, while `left` is not 0, the tables of a vector in its last field.
struct Frame {
  uint32_t table;
  uint32_t next;  // of the vector's elements
  uint32_t left;  // elements from there on
  uint8_t type;
  uint16_t field;  // of kSchema.fields, the next one
};

class Walk {
 public:
  Walk(const uint8_t* bytes, uint32_t size)
      : bytes_(bytes),
        size_(size),
        tables_(size / kLeastTableBytes),
        strings_(size / kLeastStringBytes),
        contents_(uint64_t{kMostCopies} * size) {}

  bool run() {
    if (size_ < kLeastBytes) return false;
    for (uint32_t i = 0; i < flatbuffers::kFileIdentifierLength; ++i) {
      if (bytes_[4 + i] != static_cast<uint8_t>(fb::ModelIdentifier()[i])) return false;
    }
    const uint32_t root = follow(0);
    if (root == 0 || !enter(root, 0)) return false;
    while (depth_ > 0) {
      Frame& frame = stack_[depth_ - 1];
      if (frame.left > 0) {
        const uint32_t at = frame.next;
        frame.next += 4;
        --frame.left;
        if (!enter_at(at, kSchema.fields[frame.field - 1] & 0x3F)) return false;
      } else if (!check_fields(frame)) {
        return false;
      }
    }
    return true;
  }

 private:
  template <typename T>
  T read(uint32_t at) const {
    return flatbuffers::ReadScalar<T>(bytes_ + at);
  }
  bool holds(uint32_t at, uint32_t size) const { return size < size_ && at <= size_ - size; }
  /// `alignment` a power of two.
  bool holds_aligned(uint32_t at, uint32_t size, uint32_t alignment) const {
    return (at & (alignment - 1)) == 0 && holds(at, size);
  }

  /// Where the offset at `at` leads, 0 if it is none.
  uint32_t follow(uint32_t at) const {
    if (!holds_aligned(at, 4, 4)) return 0;
    const auto offset = read<uint32_t>(at);
    return offset != 0 && offset < size_ && holds(at + offset, 1) ? at + offset : 0;
  }

  /// The vector at `at` lies inside; `end`: first byte behind it.
  bool check_vector(uint32_t at, uint32_t element, uint32_t* end) {
    if (!holds_aligned(at, 4, 4)) return false;
    const auto count = read<uint32_t>(at);
    if (count > size_ / element || count * element > contents_) return false;  // and so the product fits
    contents_ -= count * element;
    *end = at + 4 + count * element;
    return holds(at, 4 + count * element);
  }

  bool check_string(uint32_t at) {
    uint32_t end = 0;
    return check_vector(at, 1, &end) && holds(end, 1) && bytes_[end] == 0;
  }

  bool check_strings(uint32_t at) {
    uint32_t end = 0;
    if (!check_vector(at, 4, &end)) return false;
    const uint32_t strings = (end - at - 4) / 4;
    if (strings > strings_) return false;
    strings_ -= strings;
    for (at += 4; at < end; at += 4) {
      const auto offset = read<uint32_t>(at);
      if (offset >= size_ || !check_string(at + offset)) return false;
    }
    return true;
  }

  /// Enters the table that the element at `at` of a vector leads to.
  bool enter_at(uint32_t at, uint32_t type) {
    const auto offset = read<uint32_t>(at);
    return offset < size_ && enter(at + offset, type);
  }

  bool enter(uint32_t table, uint32_t type) {
    if (depth_ == kMaxDepth || tables_ == 0 || !holds_aligned(table, 4, 4)) return false;
    --tables_;
    const uint32_t vtable = table - read<uint32_t>(table);
    if (!holds_aligned(vtable, 2, 2)) return false;
    const uint32_t bytes = read<uint16_t>(vtable);
    if ((bytes & 1) != 0 || !holds(vtable, bytes)) return false;
    stack_[depth_++] = {table, 0, 0, static_cast<uint8_t>(type), kSchema.begin[type]};
    return true;
  }

  /// Checks the frame's next fields until one leads to another table, which is entered; leaves the table after the last.
  bool check_fields(Frame& frame) {
    const uint32_t vtable = frame.table - read<uint32_t>(frame.table);
    const uint32_t vtable_bytes = read<uint16_t>(vtable);
    const uint32_t end = kSchema.begin[frame.type + 1u];
    // Where the field lies, 0 if it is absent.
    const auto find = [&](uint32_t field) -> uint32_t {
      const uint32_t entry = 4 + 2 * (field - kSchema.begin[frame.type]);
      const uint32_t offset = entry < vtable_bytes ? read<uint16_t>(vtable + entry) : 0;
      return offset == 0 ? 0 : frame.table + offset;
    };
    for (uint32_t field = frame.field; field < end; ++field) {
      const uint32_t code = kSchema.fields[field];
      const uint32_t at = find(field);
      if (at == 0) {
        if ((code & kFormMask) == kRequiredTables || (code & (kFormMask | kRequiredLeaf)) == kRequiredLeaf)
          return false;
        continue;
      }
      const uint32_t leaf = code & ~uint32_t{kRequiredLeaf};
      if (leaf <= kStruct24) {
        static constexpr uint8_t kSize[] = {1, 2, 4, 8, 8, 16, 24};
        static constexpr uint8_t kAlignment[] = {1, 2, 4, 8, 4, 4, 8};
        if (!holds_aligned(at, kSize[leaf], kAlignment[leaf])) return false;
        continue;
      }
      const uint32_t target = follow(at);
      if (target == 0) return false;
      frame.field = static_cast<uint16_t>(field + 1);
      uint32_t vector_end = 0;
      if (code >= kTables) {
        if (!check_vector(target, 4, &vector_end)) return false;
        frame.next = target + 4;
        frame.left = (vector_end - frame.next) / 4;
        return true;
      }
      if (code >= kTable) return enter(target, code & 0x3F);
      if (leaf == kUnion) {
        const uint32_t type_at = find(field - 1);
        const uint32_t type = type_at == 0 ? 0 : bytes_[type_at];
        if (type != 0 && type <= kUnionMembers) return enter(target, kUnionBase + type);
      } else if (leaf <= kStrings) {
        if (!(leaf == kString ? check_string(target) : check_strings(target))) return false;
      } else {
        static constexpr uint8_t kElement[] = {1, 2, 4, 8, 12, 16};
        if (!check_vector(target, kElement[leaf - kVector1], &vector_end)) return false;
      }
    }
    --depth_;
    return true;
  }

  const uint8_t* bytes_;
  uint32_t size_;
  uint32_t tables_;    // that may still be entered
  uint32_t strings_;   // of vectors, that may still be looked at
  uint64_t contents_;  // bytes of vectors and strings, that may still be looked at
  uint32_t depth_ = 0;
  Frame stack_[kMaxDepth];
};

}  // namespace

#if BANTAM_LINK_HOST
Schema schema() { return {kSchema.fields, kSchema.begin, Tables::kCount, kUnionBase, kUnionMembers}; }
#endif

bool is_well_formed(const uint8_t* bytes, uint64_t size) {
  return size <= kMostBytes && Walk(bytes, static_cast<uint32_t>(size)).run();
}

}  // namespace bantam::structure
