#include "firmware/linked.h"

#include <fmt/format.h>

#include <map>

#include "format/view.h"

namespace bantam::firmware {
namespace {

/// Operators of this version compute with integers only.
constexpr uint32_t kIntegerVersion = 2;

/// Gathers macros; a name is given once, bits of masks are joined.
class Needs {
 public:
  explicit Needs(const fb::Model& model) : model_(model) {}

  void op(const fb::Op& op) {
    using Kind = fb::OpAttributes;
    static const std::map<Kind, const char*> kOperators = {{Kind::Embed, "EMBED"},
                                                           {Kind::Linear, "LINEAR"},
                                                           {Kind::Row, "ROW"},
                                                           {Kind::SplitHeads, "SPLIT_HEADS"},
                                                           {Kind::Attention, "ATTENTION"},
                                                           {Kind::Pool, "POOL"},
                                                           {Kind::Slice, "SLICE"}};
    const auto known = kOperators.find(op.attributes_type());
    const bool executed = known != kOperators.end() && op.version() <= kIntegerVersion && count(op.features()) == 0;
    // What this version does not know may be copied instead, or the file would not have been opened.
    need(executed ? known->second : "COPY");
    if (executed && op.version() == kIntegerVersion) {
      need("STATIC");  // tables stand for activations, and the norm is the integer one
      return;
    }
    if (executed) numbers(op);
    if (op.tail() != nullptr) tail(*op.tail());
  }

  void tokenizer(const fb::Tokenizer& tokenizer) {
    need("TOKENIZER");
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
      if (name == "ACTIVATIONS") {
        for (uint32_t bit = 1; bit < 32; ++bit) {
          if ((value >> bit & 1u) != 0) word(&linked, fb::EnumNameActivationKind(static_cast<fb::ActivationKind>(bit)));
        }
      } else if (name == "NORMS") {
        for (uint32_t bit = 1; bit < 32; ++bit) {
          if ((value >> bit & 1u) == 0) continue;
          word(&linked, fmt::format("{} norm", fb::EnumNameNormKind(static_cast<fb::NormKind>(bit))));
        }
      } else if (name != "TASKS" && name != "POOLS") {
        word(&linked, name);
      }
    }
    return linked;
  }

 private:
  static void word(Linked* linked, std::string name) {
    for (char& c : name) c = c == '_' ? ' ' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    linked->words.push_back(name);
  }

  void numbers(const fb::Op& op) {
    if (op.attributes_type() == fb::OpAttributes::Linear) weights(operand(op.inputs(), 1), "DYNAMIC", "FLOAT");
    if (op.attributes_type() == fb::OpAttributes::Attention)
      weights(operand(op.inputs(), 0), "DYNAMIC", "FLOAT_ATTENTION");
    if (const fb::Pool* pool = op.attributes_as_Pool()) {
      need("POOLS", 1u << static_cast<uint32_t>(pool->kind()));
      if (pool->l2()) need("UNIT_LENGTH");
    }
    if (op.attributes_type() != fb::OpAttributes::Embed) return;
    for (const fb::EmbedTable* table : *op.attributes_as_Embed()->tables())
      weights(table->tensor(), nullptr, "FLOAT_TABLES");
  }

  void weights(int32_t index, const char* if_i8, const char* if_float) {
    const fb::DType type = tensor(model_, index).type();
    const bool integer = type == fb::DType::i8 || type == fb::DType::i4;
    const char* name = integer ? if_i8 : if_float;
    if (type == fb::DType::i4) need("INT4");
    if (sparse_weights(tensor(model_, index))) need("SPARSE");
    if (bitmask_weights(tensor(model_, index))) need("BITMASK");
    if (name != nullptr) need(name);
    if (type == fb::DType::f16) need("HALF");
  }

  void tail(const fb::Tail& tail) {
    const auto activation = static_cast<uint32_t>(tail.activation());
    const auto norm = static_cast<uint32_t>(tail.norm());
    if (activation != 0) need("ACTIVATIONS", 1u << activation);
    if (norm != 0) need("NORMS", 1u << norm);
  }

  const fb::Model& model_;
  std::map<std::string, uint32_t> values_;
};

}  // namespace

bool answers_with_places(TaskKind task) {
  return task == TaskKind::kTag || task == TaskKind::kJoint || task == TaskKind::kAnswer;
}

Linked linked_by(const Model& model) {
  Needs needs(root(model));
  for (const fb::Op* op : *graph(root(model)).ops()) needs.op(*op);
  const auto* tokenizers = root(model).tokenizers();
  for (uint32_t i = 0; i < count(tokenizers); ++i) needs.tokenizer(*tokenizers->Get(i));
  // What scores are computed with: softmax's exp, the sigmoid of several labels.
  const bool independent = model.task() == TaskKind::kMultiLabel;
  const auto score = independent ? fb::ActivationKind::sigmoid : fb::ActivationKind::exp;
  const bool scored =
      model.task() != TaskKind::kNone && model.task() != TaskKind::kEmbed && model.task() != TaskKind::kRegress;
  if (scored) needs.need("ACTIVATIONS", 1u << static_cast<uint32_t>(score));
  if (answers_with_places(model.task()) && count(tokenizers) > 0) needs.need("OFFSETS");
  needs.need("TASKS", 1u << static_cast<uint32_t>(model.task()));
  return needs.finish();
}

std::string linked_header(const Linked& linked) {
  std::string text =
      "// Written by bantam firmware: what the model needs of the runtime; runtime/linked.h says what each is. What "
      "is\n"
      "// not here is not linked, and a model that asks for it is refused by Model::open. For sentences about a file "
      "that is\n"
      "// refused, beside its status: #define BANTAM_LINK_FAULT_TEXT 1\n"
      "#ifndef BANTAM_LINKED_HEADER_H_\n#define BANTAM_LINKED_HEADER_H_\n\n";
  for (const auto& [name, value] : linked.macros) {
    text += fmt::format("#define BANTAM_LINK_{} ", name);
    text += value == 1 ? "1\n" : fmt::format("0x{:x}u\n", value);
  }
  return text + "\n#endif  // BANTAM_LINKED_HEADER_H_\n";
}

}  // namespace bantam::firmware
