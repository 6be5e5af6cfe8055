#include "firmware/linked.h"

#include <fmt/format.h>

#include <map>

#include "model/view.h"

namespace bantam::firmware {
namespace {

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
    // An operator of a later version that says that its input may be copied instead.
    need(known != kOperators.end() ? known->second : "COPY");
    if (op.attributes_type() == Kind::Linear) weights(operand(op.inputs(), 1), "FLOAT");
    if (op.attributes_type() == Kind::Attention) weights(operand(op.inputs(), 0), "FLOAT_ATTENTION");
    if (op.attributes_type() == Kind::Embed) {
      for (const fb::EmbedTable* table : *op.attributes_as_Embed()->tables()) {
        if (!is_i8(table->tensor())) need("FLOAT_TABLES");
      }
    }
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
      } else if (name != "TASKS" && name != "FAULT_TEXT") {
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

  bool is_i8(int32_t index) const { return tensor(model_, index).type() == fb::DType::i8; }

  void weights(int32_t index, const char* if_float) { need(is_i8(index) ? "DYNAMIC" : if_float); }

  void tail(const fb::Tail& tail) {
    if (tail.activation() != fb::ActivationKind::none)
      need("ACTIVATIONS", 1u << static_cast<uint32_t>(tail.activation()));
    if (tail.norm() != fb::NormKind::none) need("NORMS", 1u << static_cast<uint32_t>(tail.norm()));
  }

  const fb::Model& model_;
  std::map<std::string, uint32_t> values_;
};

}  // namespace

Linked linked_by(const Model& model) {
  Needs needs(root(model));
  for (const fb::Op* op : *graph(root(model)).ops()) needs.op(*op);
  const auto* tokenizers = root(model).tokenizers();
  for (uint32_t i = 0; i < count(tokenizers); ++i) needs.tokenizer(*tokenizers->Get(i));
  needs.need("TASKS", 1u << static_cast<uint32_t>(model.task()));
  needs.need("FAULT_TEXT");
  return needs.finish();
}

std::string linked_header(const Linked& linked) {
  std::string text =
      "// Written by bantam firmware: what the model needs of the runtime; runtime/linked.h says what each is. What "
      "is\n"
      "// not here is not linked, and a model that asks for it is refused by Model::open.\n"
      "#ifndef BANTAM_LINKED_HEADER_H_\n#define BANTAM_LINKED_HEADER_H_\n\n";
  for (const auto& [name, value] : linked.macros) {
    text += fmt::format("#define BANTAM_LINK_{} ", name);
    text += value == 1 ? "1\n" : fmt::format("0x{:x}u\n", value);
  }
  return text + "\n#endif  // BANTAM_LINKED_HEADER_H_\n";
}

}  // namespace bantam::firmware
