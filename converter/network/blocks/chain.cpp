#include "network/blocks/chain.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/access.h"

namespace bantam::convert {
namespace {

/// The score of transitions that AllenNLP's constraints forbid.
constexpr float kForbidden = -10000.0F;

ChainRows chain_rows(const Fields& fields) {
  const std::string rows = fields.text("crf_rows", "all");
  if (rows == "all") return ChainRows::kAll;
  if (rows == "inner") return ChainRows::kInner;
  if (rows != "words") {
    fields.problem(ExitCode::kUsage, "crf_rows",
                   "expected \"all\", \"inner\" (all but the first and last) or \"words\"");
  }
  return ChainRows::kWords;
}

/// Appends `part` to the values of `to`.
void append(Values& to, Values part) {
  to.values.insert(to.values.end(), part.values.begin(), part.values.end());
  to.source.insert(to.source.end(), part.source.begin(), part.source.end());
  to.source_bytes += part.source_bytes;
}

/// `mask` [tags + 2, tags + 2] is 1 for allowed transitions; its last two rows and columns are the start and the end.
void forbid(Values& transitions, const Values& mask, size_t tags) {
  const size_t stride = tags + 2;
  if (mask.values.size() != stride * stride || transitions.values.size() != stride * tags) return;
  const auto allow = [&](size_t row, size_t column, size_t from, size_t to) {
    float& value = transitions.values[row * tags + column];
    const float allowed = mask.values[from * stride + to];
    value = value * allowed + kForbidden * (1.0F - allowed);
  };
  for (size_t tag = 0; tag < tags; ++tag) {
    allow(0, tag, tags, tag);
    allow(1, tag, tag, tags + 1);
    for (size_t from = 0; from < tags; ++from) allow(2 + from, tag, from, tag);
  }
}

/// True if a token of this text begins a word.
bool begins_word(const fb::TokenizerT& tokenizer, std::string_view text) {
  if (tokenizer.model->kind != fb::TokenModelKind::wordpiece) return !text.empty() && text.front() == ' ';
  const std::string& prefix = tokenizer.model->continuing_prefix;
  return prefix.empty() || text.substr(0, prefix.size()) != prefix;
}

}  // namespace

int32_t add_chain(Builder& builder, const Fields& fields, Weights& weights, const std::string& name, int32_t scores) {
  if (!weights.has_head("crf.transitions")) return scores;
  const uint32_t tags = builder.width(scores);
  Values all = weights.head("crf.start_transitions", {tags});
  append(all, weights.head("crf.end_transitions", {tags}));
  append(all, weights.head("crf.transitions", {tags, tags}));
  if (weights.has_head("crf._constraint_mask")) {
    forbid(all, weights.head("crf._constraint_mask", {tags + 2, tags + 2}), tags);
  }
  const uint32_t skip = chain_rows(fields) == ChainRows::kInner ? 1 : 0;
  const int32_t transitions = builder.table("crf.transitions", tags + 2, tags, std::move(all));
  return builder.crf(name, scores, transitions, kAbsent, skip, skip);
}

void choose_members(Graph& graph, const Fields& fields, Problems& problems) {
  auto& ops = main_subgraph(graph).ops;
  const auto chain =
      std::find_if(ops.begin(), ops.end(), [](const auto& op) { return op->attributes.type == fb::OpAttributes::Crf; });
  if (chain == ops.end() || fields.text("crf_rows", "all") != "words") return;
  const fb::TokenizerT* tokenizer = graph.model.tokenizers.empty() ? nullptr : graph.model.tokenizers.front().get();
  const auto* text = tokenizer == nullptr ? nullptr : blob_bytes(graph, *tokenizer, fb::BlobName::token_text);
  const auto* begin = tokenizer == nullptr ? nullptr : blob_bytes(graph, *tokenizer, fb::BlobName::token_begin);
  if (text == nullptr || begin == nullptr) {
    problems.add(ExitCode::kInvalid,
                 "config.json: crf_rows: \"words\" needs the tokenizer, which says what tokens begin words");
    return;
  }
  std::vector<uint32_t> offsets(begin->size() / sizeof(uint32_t));
  std::memcpy(offsets.data(), begin->data(), offsets.size() * sizeof(uint32_t));
  const uint32_t limit = graph.model.inputs.front()->limit;
  std::vector<int32_t> members((size_t{limit} + 31) / 32, 0);
  for (uint32_t id = 0; id < limit && id + 1 < offsets.size(); ++id) {
    const std::string_view token(reinterpret_cast<const char*>(text->data()) + offsets[id],
                                 offsets[id + 1] - offsets[id]);
    const bool special = std::any_of(tokenizer->added_tokens.begin(), tokenizer->added_tokens.end(),
                                     [id](const auto& added) { return added->special && added->id == id; });
    if (special || !begins_word(*tokenizer, token)) continue;
    auto& word = reinterpret_cast<uint32_t&>(members[id / 32]);
    word |= 1U << id % 32;
  }
  fb::TensorT added;
  added.name = "crf.members";
  added.type = fb::DType::i32;
  added.shape = {fb::Dim(-1, 0, static_cast<int32_t>(members.size()), 1)};
  (*chain)->inputs[2] = add_tensor(graph, std::move(added));
  auto constant = std::make_shared<Constant>();
  constant->numbers = std::move(members);
  graph.constants[static_cast<size_t>((*chain)->inputs[2])] = std::move(constant);
}

}  // namespace bantam::convert
