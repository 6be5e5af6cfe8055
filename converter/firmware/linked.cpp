#include "firmware/linked.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>

#include "bantam/sound.h"
#include "bantam/tasks.h"
#include "firmware/memory.h"
#include "format/view.h"
#include "graph/task_parts.h"
#include "linked.h"
#include "ops/ops.h"
#include "text/encoder.h"
#include "text/tables.h"

namespace bantam::firmware {
namespace {

/// Names of rows of ops/ops.inc and of kinds of numbers, by bit.
constexpr const char* kOpNames[] = {
#define BANTAM_OP(name, ...) #name,
#include "ops/ops.inc"
#undef BANTAM_OP
};
constexpr const char* kNumberNames[] = {
#define BANTAM_NUMBER(name) #name,
    BANTAM_NUMBERS(BANTAM_NUMBER)
#undef BANTAM_NUMBER
};

constexpr const char* kEpilogueWords[] = {"gates", "rows before norms"};
constexpr const char* kPlaceWords[] = {"biases by distance",       "biases by slopes",      "rotary positions",
                                       "embeddings of neighbours", "scores of places",      "norms of queries and keys",
                                       "keys of segments",         "scores that are capped"};

/// "SplitHeads" and "quick_gelu": "split heads", "quick gelu".
std::string in_words(const char* name) {
  std::string words;
  for (; *name != 0; ++name) {
    const bool capital = *name >= 'A' && *name <= 'Z';
    if (capital && !words.empty()) words += ' ';
    words += *name == '_' ? ' ' : static_cast<char>(capital ? *name - 'A' + 'a' : *name);
  }
  return words;
}

/// What bit `bit` of the mask `name` stands for; "" where nobody needs to know.
std::string bit_words(const std::string& name, uint32_t bit) {
  if (name == "OPS") return in_words(kOpNames[bit]);
  if (name == "NUMBERS") return in_words(kNumberNames[bit]);
  if (name == "ACTIVATIONS") return in_words(fb::EnumNameActivationKind(static_cast<fb::ActivationKind>(bit)));
  if (name == "MASKS") return in_words(fb::EnumNameMaskKind(static_cast<fb::MaskKind>(bit))) + " mask";
  if (name == "EPILOGUE" && bit < 2) return kEpilogueWords[bit];
  if (name == "PLACES" && bit < 8) return kPlaceWords[bit];
  if (name == "LABELS" && bit < 2) return bit == 0 ? "further label sets" : "labels above each other";
  if (name == "TOKEN_MODELS") return fb::EnumNameTokenModelKind(static_cast<fb::TokenModelKind>(bit));
  if (name == "NORMALIZERS") {
    return std::string("normaliser ") + fb::EnumNameNormalizerKind(static_cast<fb::NormalizerKind>(bit));
  }
  if (name == "SPLITTERS")
    return std::string(fb::EnumNameSplitterKind(static_cast<fb::SplitterKind>(bit))) + " splitter";
  if (name == "BPE") {
    constexpr std::array<const char*, 6> kParts = {"byte pairs of code points", "marks of words in tokens",
                                                   "words that are one token",  "splits in several passes",
                                                   "merges in any order",       "splits at texts"};
    return bit < kParts.size() ? kParts.at(bit) : "";
  }
  if (name == "NORMS") return in_words(fb::EnumNameNormKind(static_cast<fb::NormKind>(bit))) + " norm";
  return "";
}

/// Gathers macros; a name is given once, bits of masks are joined.
class Needs {
 public:
  explicit Needs(const fb::Model& model) : model_(model) {}

  void op(const fb::Op& op) {
    // What this version does not know may be copied instead, or the file would not have been opened.
    const uint32_t row = ops::find_row(op);
    need("OPS", 1u << (row == linked::kOps ? uint32_t{linked::kOpCopy} : row));
    places(op);
    if (op.attributes_type() == fb::OpAttributes::Select && op.attributes_as_Select()->mean()) {
      need("ACTIVATIONS", 1u << static_cast<uint32_t>(fb::ActivationKind::exp));
    }
    // Integers only: tables stand for activations, and the norm is the integer one.
    if (is_static(op)) {
      if (ops::executed_kind(op) == fb::OpAttributes::Linear) layout(tensor(model_, operand(op.inputs(), 1)));
      return;
    }
    numbers(op);
    if (op.epilogue() != nullptr) epilogue(*op.epilogue());
  }

  void tokenizer(const fb::Tokenizer& tokenizer, const uint8_t* data) {
    need("TOKENIZER");
    need("TOKEN_MODELS", 1u << static_cast<uint32_t>(tokenizer.model()->kind()));
    const uint32_t traits = tokenizer.model()->traits();
    if (tokenizer.model()->hidden_from() != 0) need("HIDDEN_TOKENS");
    if (text::fills_up(tokenizer, false) || text::fills_up(tokenizer, true)) need("FILL");
    if ((traits & (text::kCodePoints | text::kSomeBytes)) != 0) need("BPE", 1u);
    if ((traits & (text::kEndMarks | text::kBeginMarks)) != 0) need("BPE", 2u);
    if ((traits & text::kWordLevel) != 0) need("BPE", 4u);
    if ((traits & text::kAnyOrder) != 0) need("BPE", 16u);
    if (const fb::Blob* split = text::find_blob(tokenizer, fb::BlobName::split); split != nullptr) {
      splits(data + split->offset());
    }
    for (uint32_t i = 0; i < count(tokenizer.normalizers()); ++i) {
      const auto kind = static_cast<uint32_t>(tokenizer.normalizers()->Get(i)->kind());
      if (kind != 0) need("NORMALIZERS", 1u << kind);
    }
    for (const fb::Splitter* splitter : *tokenizer.splitters()) {
      need("SPLITTERS", 1u << static_cast<uint32_t>(splitter->kind()));
    }
    for (uint32_t i = 0; i < count(tokenizer.added_tokens()); ++i) {
      const fb::AddedToken& added = *tokenizer.added_tokens()->Get(i);
      if (added.normalized()) need("NORMALIZED_TOKENS");
      if (added.single_word() || added.lstrip() || added.rstrip()) need("TOKEN_EDGES");
    }
  }

  void need(const char* name, uint32_t value = 1) { values_[name] |= value; }

  Linked finish() const {
    Linked linked;
    for (const auto& [name, value] : values_) {
      linked.macros.emplace_back(name, value);
      if (value == 1 && bit_words(name, 0).empty()) linked.words.push_back(in_words(lower(name).c_str()));
      for (uint32_t bit = 0; bit < 32; ++bit) {
        const std::string words = (value >> bit & 1u) != 0 ? bit_words(name, bit) : "";
        if (!words.empty()) linked.words.push_back(words);
      }
    }
    return linked;
  }

 private:
  static std::string lower(std::string name) {
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return name;
  }

  /// What the tables of a splitter need.
  void splits(const uint8_t* table) {
    for (bool more = true; more;) {
      const auto& header = *reinterpret_cast<const text::SplitHeader*>(table);
      if (header.version == text::kSplitVersion) return;
      need("BPE", header.version == text::kSplitEndsVersion ? 8u | 32u : 8u);
      more = text::split_pass(table).more != 0;
      table += text::split_pass_size(header);
    }
  }

  void number(linked::Numbers kind) { need("NUMBERS", 1u << kind); }

  void numbers(const fb::Op& op) {
    switch (ops::executed_kind(op)) {
      case fb::OpAttributes::Linear:
        return weights(operand(op.inputs(), 1), linked::kNumberDynamic, linked::kNumberFloat);
      case fb::OpAttributes::Recurrent:
        for (const uint32_t at : ops::kRecurrentMatrices) {
          const int32_t index = operand(op.inputs(), at);
          if (index >= 0) weights(index, linked::kNumberDynamic, linked::kNumberFloat);
        }
        return;
      case fb::OpAttributes::Experts:
        need("ACTIVATIONS", 1u << static_cast<uint32_t>(fb::ActivationKind::exp));
        need("ACTIVATIONS", 1u << static_cast<uint32_t>(op.attributes_as_Experts()->activation()));
        if (op.attributes_as_Experts()->gated()) need("EPILOGUE", 1u);
        for (const uint32_t at : ops::kExpertMatrices) {
          weights(operand(op.inputs(), at), linked::kNumberDynamic, linked::kNumberFloat);
        }
        return;
      case fb::OpAttributes::KeySums:
      case fb::OpAttributes::LinearAttention:
        return number(linked::kNumberFloat);
      case fb::OpAttributes::ChunkAttention:
        need("ACTIVATIONS", 1u << static_cast<uint32_t>(fb::ActivationKind::exp));
        if (op.attributes_as_ChunkAttention()->rounds() != 0) {
          need("NORMS", 1u << static_cast<uint32_t>(fb::NormKind::rms));
        }
        return number(linked::kNumberFloat);
      case fb::OpAttributes::Depthwise:
        return need("EPILOGUE", 1u);
      case fb::OpAttributes::Attention:
        return weights(operand(op.inputs(), 0), linked::kNumberDynamic, linked::kNumberFloatAttention);
      case fb::OpAttributes::Pool:
        need("POOLS", 1u << static_cast<uint32_t>(op.attributes_as_Pool()->kind()));
        if (op.attributes_as_Pool()->l2()) need("POOLS", 1u << linked::kUnitLengthBit);
        if (count(op.attributes_as_Pool()->skip_last()) != 0) need("POOLS", 1u << linked::kPoolPartsBit);
        return;
      case fb::OpAttributes::Embed:
        for (const fb::EmbedTable* table : *op.attributes_as_Embed()->tables()) {
          weights(ops::named_input(op, table->tensor()), std::nullopt, linked::kNumberFloatTables);
        }
        return;
      default:
        return;
    }
  }

  /// What attention knows of places.
  void places(const fb::Op& op) {
    const fb::OpAttributes kind = ops::executed_kind(op);
    if (kind == fb::OpAttributes::SplitHeads) {
      if (op.attributes_as_SplitHeads()->rotary() >= 0) need("PLACES", 4u);
      if (op.attributes_as_SplitHeads()->norms() >= 0) {
        need("PLACES", 32u);
        need("NORMS", 1u << static_cast<uint32_t>(op.attributes_as_SplitHeads()->norm()));
      }
    }
    if (kind == fb::OpAttributes::Embed) {
      for (const fb::EmbedTable* table : *op.attributes_as_Embed()->tables()) {
        const fb::IndexSource source = table->source();
        const bool neighbour = source == fb::IndexSource::next || source == fb::IndexSource::previous;
        if (neighbour || source == fb::IndexSource::part) need("PLACES", 8u);
        if (source == fb::IndexSource::marked) need("MASKS", 1u << static_cast<uint32_t>(fb::MaskKind::marked));
      }
    }
    if (kind != fb::OpAttributes::Attention) return;
    const fb::Attention& attention = *op.attributes_as_Attention();
    if (attention.mask() != fb::MaskKind::none) need("MASKS", 1u << static_cast<uint32_t>(attention.mask()));
    if (attention.distance_bias() >= 0) need("PLACES", 1u);
    if (attention.slopes() >= 0) need("PLACES", 2u);
    if (attention.segment_keys() >= 0) need("PLACES", 64u);
    if (attention.soft_cap() > 0.0f) need("PLACES", 128u);
    if (attention.place_rows() >= 0) {
      need("PLACES", 16u);
      number(linked::kNumberFloat);
      for (const int8_t at : {attention.place_keys(), attention.place_queries()}) {
        if (at >= 0) weights(ops::named_input(op, at), std::nullopt, linked::kNumberFloat);
      }
    }
  }

  /// What the layout of integer weights needs beside their numbers.
  void layout(const fb::Tensor& t) {
#define BANTAM_WEIGHTS(own, kind, Format) \
  if (t.layout() == fb::Layout::own && linked::kNumber##kind != linked::kNumberDynamic) number(linked::kNumber##kind);
#include "format/weights.inc"
#undef BANTAM_WEIGHTS
  }

  void weights(int32_t index, std::optional<linked::Numbers> if_integer, linked::Numbers if_float) {
    const fb::Tensor& t = tensor(model_, index);
    const bool integer = t.type() == fb::DType::i8 || t.type() == fb::DType::i4;
    layout(t);
    if (!integer) number(if_float);
    if (integer && if_integer) number(*if_integer);
    if (t.type() == fb::DType::f16) number(linked::kNumberHalf);
  }

  void epilogue(const fb::Epilogue& epilogue) {
    const auto activation = static_cast<uint32_t>(epilogue.activation());
    const auto norm = static_cast<uint32_t>(epilogue.norm());
    if (activation != 0) need("ACTIVATIONS", 1u << activation);
    if (norm != 0) need("NORMS", 1u << norm);
    if (epilogue.gate() >= 0) need("EPILOGUE", 1u);
    if (epilogue.store_sum()) need("EPILOGUE", 2u);
  }

  const fb::Model& model_;
  std::map<std::string, uint32_t> values_;
};

}  // namespace

bool answers_with_places(TaskKind task) { return convert::has_places(traits(task).parts); }

Linked linked_by(const Model& model) {
  Needs needs(root(model));
  for (const fb::Op* op : *graph(root(model)).ops()) needs.op(*op);
  const auto* tokenizers = root(model).tokenizers();
  for (uint32_t i = 0; i < count(tokenizers); ++i) needs.tokenizer(*tokenizers->Get(i), model.data());
  // What scores are computed with: softmax's exp, the sigmoid of several labels.
  const Scores scores = traits(model.task()).scores;
  const auto score = scores == kSigmoids ? fb::ActivationKind::sigmoid : fb::ActivationKind::exp;
  if (scores != kUnscored) needs.need("ACTIVATIONS", 1u << static_cast<uint32_t>(score));
  if (model.mark_types() > 1) needs.need("MARKS");
  if (has_source(root(model))) needs.need("SOURCES");
  if (model.chunk_tokens() != 0) needs.need("CHUNKS");
  if (takes_sound(model)) needs.need("SOUND");
  const fb::Task* task = root(model).task();
  if (task != nullptr && task->shortlist() != nullptr) needs.need("SHORTLIST");
  if (goes_on(model)) {
    needs.need("CONTEXTS");
    needs.need("DECODE");
  }
  if (answers_with_places(model.task()) && count(tokenizers) > 0) needs.need("OFFSETS");
  needs.need("TASKS", 1u << static_cast<uint32_t>(model.task()));
  if (model.label_set_count() > task_label_sets(model)) needs.need("LABELS", 1u);
  for (uint32_t set = 0; set < model.label_set_count(); ++set) {
    if (model.has_levels(set)) needs.need("LABELS", 2u);
  }
  return needs.finish();
}

std::string linked_macros(const Linked& linked) {
  std::string text;
  for (const auto& [name, value] : linked.macros) {
    text += fmt::format("#define BANTAM_LINK_{} ", name);
    text += value == 1 ? "1\n" : fmt::format("0x{:x}u\n", value);
  }
  return text;
}

}  // namespace bantam::firmware
