#include "firmware/linked.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>
#include <type_traits>

#include "bantam/sound.h"
#include "bantam/tasks.h"
#include "firmware/memory.h"
#include "format/view.h"
#include "graph/task_parts.h"
#include "model/shortlist.h"
#include "ops/matrices.h"
#include "text/encoder.h"
#include "text/tables.h"

namespace bantam::firmware {
namespace {

namespace links = linked::links;

/// The rows of ops/ops.inc as an enumeration, like the schema's enumerations of other sets.
enum class OpRow : uint32_t {
#define BANTAM_OP(name, ...) name,
#include "ops/ops.inc"
#undef BANTAM_OP
  MAX = linked::kOps - 1
};

// The members of each set have the order of its enumeration.
#define BANTAM_LINK_SET(set, Kind, always, words) \
  using set##_kind = Kind;                        \
  static_assert(links::size_of(links::set##_all) == static_cast<uint32_t>(Kind::MAX) + 1);
#define BANTAM_LINK_MEMBER(set, name) \
  static_assert(links::set##_##name == links::of(links::set##_all, set##_kind::name));
#include "links.inc"

/// Types besides the schema's tables that rows of links.inc examine.
struct Matrix {
  const fb::Tensor& tensor;
};
struct Lookup {
  const fb::Tensor& tensor;
};
using SplitPass = text::SplitHeader;

bool is_integer(const fb::Tensor& t) {
  return t.type() == fb::DType::i8 || t.type() == fb::DType::i4 || t.type() == fb::DType::ternary;
}

/// Returns the switch that a weight layout needs besides Dynamic, or links::nothing.
links::Link number_of(fb::Layout layout) {
#define BANTAM_WEIGHTS(own, number, Format) \
  if (layout == fb::Layout::own) return links::number;
#include "format/weights.inc"
#undef BANTAM_WEIGHTS
  return links::nothing;
}

bool has_levels(const Model& model) {
  for (uint32_t set = 0; set < model.label_set_count(); ++set) {
    if (model.has_levels(set)) return true;
  }
  return false;
}

/// Returns true if a label set uses one of transformers' aggregation strategies.
bool has_strategies(const Model& model) {
  for (uint32_t set = 0; set < model.label_set_count(); ++set) {
    if (file_aggregation(model, set) != Aggregation::kWords) return true;
  }
  return false;
}

/// Returns `seen` if it is a T, or its attributes if it is an operator whose attributes are a T; otherwise null.
template <class T, class Seen>
const T* as(const Seen& seen) {
  if constexpr (std::is_same_v<T, Seen>) {
    return &seen;
  } else if constexpr (std::is_same_v<Seen, fb::Op> &&
                       fb::OpAttributesTraits<T>::enum_value != fb::OpAttributes::NONE) {
    return seen.template attributes_as<T>();
  } else {
    return nullptr;
  }
}

/// Walks through a file and checks each row of links.inc against everything in it.
class Needs {
 public:
  explicit Needs(const fb::Model& model) : model_(model) {}

  template <class Seen>
  void look_at(const Seen& seen) {
    using namespace linked::links;  // NOLINT(google-build-using-namespace): the names of the rows
#define BANTAM_LINK(name, Table, needed, words) BANTAM_LINK_NEED(Table, needed, linked::links::name)
#define BANTAM_LINK_NEED(Table, needed, link)  \
  if (const Table* found = as<Table>(seen)) {  \
    [[maybe_unused]] const Table& it = *found; \
    if (needed) need(link);                    \
  }
#include "links.inc"
  }

  void op(const fb::Op& op) {
    const uint32_t row = ops::find_row(op);
    // The file could be opened, so an operator that this version does not know may be replaced by a copy.
    need(links::of(links::op_all, row == linked::kOps ? uint32_t{linked::kOpCopy} : row));
    if (row == linked::kOps) return;
    op_ = &op;
    look_at(op);
    if (const fb::Embed* embed = op.attributes_as_Embed()) {
      for (const fb::EmbedTable* table : *embed->tables()) {
        look_at(*table);
        if (is_dynamic()) look_at(Lookup{tensor(model_, ops::named_input(op, table->tensor()))});
      }
    }
    ops::for_each_matrix(op, [&](int32_t matrix) { look_at(Matrix{tensor(model_, matrix)}); });
    // Static operators compute with integers only: a table replaces the activation, and the norm is the integer norm.
    if (!is_dynamic()) return;
    using linked::Kernels;
    if ((Kernels::of(row) & (Kernels::linear_q8 | Kernels::linear_f32)) == Kernels::linear_f32) need(links::Float);
    if (op.epilogue() != nullptr) look_at(*op.epilogue());
  }

  void tokenizer(const fb::Tokenizer& tokenizer, const uint8_t* data) {
    look_at(tokenizer);
    look_at(*tokenizer.model());
    if (const fb::Blob* split = text::find_blob(tokenizer, fb::BlobName::split); split != nullptr) {
      splits(data + split->offset());
    }
    for (uint32_t i = 0; i < count(tokenizer.normalizers()); ++i) look_at(*tokenizer.normalizers()->Get(i));
    for (const fb::Splitter* splitter : *tokenizer.splitters()) look_at(*splitter);
    for (uint32_t i = 0; i < count(tokenizer.added_tokens()); ++i) look_at(*tokenizer.added_tokens()->Get(i));
  }

  const std::bitset<links::kCount>& needed() const { return needed_; }

 private:
  void need(links::Link link) { needed_.set(link); }
  bool is_dynamic() const { return !is_static(*op_); }
  fb::DType input_type(uint32_t i) const { return tensor(model_, operand(op_->inputs(), i)).type(); }

  /// Examines the tables of a splitter.
  void splits(const uint8_t* table) {
    for (bool more = true; more;) {
      const auto& header = *reinterpret_cast<const SplitPass*>(table);
      look_at(header);
      if (header.version == text::kSplitVersion) return;
      more = text::split_pass(table).more != 0;
      table += text::split_pass_size(header);
    }
  }

  const fb::Model& model_;
  const fb::Op* op_ = nullptr;  // the operator under examination
  std::bitset<links::kCount> needed_;
};

/// Returns a name in words: "split heads" for "SplitHeads", "quick gelu" for "quick_gelu".
std::string in_words(std::string_view name) {
  std::string words;
  for (const char c : name) {
    const bool capital = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (capital && !words.empty()) words += ' ';
    words += c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

/// A row of links.inc: its name, and its description for people; empty: it is not shown.
struct Row {
  std::string name, words;
};

/// Returns the rows by number.
std::vector<Row> list_rows() {
  std::vector<Row> rows = {{"nothing", ""}};
  std::string set_words;
  const auto member = [&](const char* name, const char* own) {
    rows.push_back({name, set_words.empty() ? "" : fmt::format(fmt::runtime(set_words), in_words(own))});
  };
#define BANTAM_LINK(name, Table, needed, words) rows.push_back({#name, words});
#define BANTAM_LINK_CODE(name) rows.push_back({#name, ""});
#define BANTAM_LINK_SET(set, Kind, always, words) \
  rows.push_back({#set "_all", ""});              \
  set_words = words;
#define BANTAM_LINK_MEMBER(set, own) member(#set "_" #own, #own);
#include "links.inc"
  return rows;
}

const std::vector<Row>& all_rows() {
  static const std::vector<Row> kRows = list_rows();
  return kRows;
}

}  // namespace

bool answers_with_places(TaskKind task) { return convert::has_places(traits(task).parts); }

Linked linked_by(const Model& model) {
  Needs needs(root(model));
  needs.look_at(model);
  for (const fb::Op* op : *graph(root(model)).ops()) needs.op(*op);
  const auto* tokenizers = root(model).tokenizers();
  for (uint32_t i = 0; i < count(tokenizers); ++i) needs.tokenizer(*tokenizers->Get(i), model.data());
  Linked linked{needs.needed(), {}};
  // Every build has these, so they are not listed.
#define BANTAM_LINK_SET(set, Kind, always, words) \
  if (always) linked.needed.reset(links::of(links::set##_all, 0));
#include "links.inc"
  const std::vector<Row>& rows = all_rows();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (linked.needed[i] && !rows[i].words.empty()) linked.words.push_back(rows[i].words);
  }
  return linked;
}

std::optional<linked::Link> link_named(std::string_view name) {
  const std::vector<Row>& rows = all_rows();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name == name) return static_cast<linked::Link>(i);
  }
  return std::nullopt;
}

std::string linked_macro(const Linked& linked) {
  constexpr size_t kColumns = 100;
  const std::vector<Row>& rows = all_rows();
  std::string text = "#define BANTAM_LINKS";
  size_t line = kColumns;
  const char* separator = "";
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!linked.needed[i]) continue;
    text += separator;
    const bool full = line + rows[i].name.size() + 2 > kColumns;
    if (full) line = 0;
    text += full ? " \\\n  " : " ";
    text += rows[i].name;
    line += rows[i].name.size() + 2;
    separator = ",";
  }
  return text + "\n";
}

}  // namespace bantam::firmware
