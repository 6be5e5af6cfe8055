#include "network/token_vectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "graph/access.h"
#include "graph/late_interaction.h"

namespace bantam::convert {
namespace {

/// Ids by the tokens' texts, in a hash table that is built once.
class Tokens {
 public:
  explicit Tokens(const Graph& graph) {
    if (graph.model.tokenizers.empty()) return;
    const fb::TokenizerT& tokenizer = *graph.model.tokenizers.front();
    mask_ = tokenizer.mask_id;
    const auto* text = blob_bytes(graph, tokenizer, fb::BlobName::token_text);
    const auto* begin = blob_bytes(graph, tokenizer, fb::BlobName::token_begin);
    if (text != nullptr && begin != nullptr) {
      std::vector<uint32_t> offsets(begin->size() / sizeof(uint32_t));
      std::memcpy(offsets.data(), begin->data(), offsets.size() * sizeof(uint32_t));
      for (uint32_t id = 0; id + 1 < offsets.size(); ++id) {
        const auto* token = reinterpret_cast<const char*>(text->data()) + offsets[id];
        ids_.emplace(std::string_view(token, offsets[id + 1] - offsets[id]), static_cast<int32_t>(id));
      }
    }
    for (const auto& added : tokenizer.added_tokens) added_.emplace(added->text, static_cast<int32_t>(added->id));
  }

  int32_t mask() const { return mask_; }
  int32_t added(std::string_view text) const { return find(added_, text); }
  int32_t any(std::string_view text) const {
    const int32_t id = added(text);
    return id >= 0 ? id : find(ids_, text);
  }

 private:
  using Ids = std::unordered_map<std::string_view, int32_t>;
  static int32_t find(const Ids& ids, std::string_view text) {
    const auto found = ids.find(text);
    return found == ids.end() ? -1 : found->second;
  }

  int32_t mask_ = -1;
  Ids ids_, added_;
};

std::string_view without_blanks_behind(std::string_view text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

LateInteraction::Side resolve(const TokenVectorSettings::Side& side, bool inserts, const Tokens& tokens,
                              Problems& problems) {
  LateInteraction::Side out;
  out.max_tokens = side.max_tokens;
  if (side.prefix.empty()) return out;
  for (const std::string_view text : {std::string_view(side.prefix), without_blanks_behind(side.prefix)}) {
    const int32_t id = inserts ? tokens.any(text) : tokens.added(text);
    if (id < 0) continue;
    out.marker = id;
    return out;
  }
  if (inserts) {
    problems.add(ExitCode::kInvalid,
                 fmt::format("the tokenizer has no token \"{}\", which marks texts; is it this model's?", side.prefix));
  }
  out.prompt = side.prefix;
  return out;
}

void hide(Graph& graph, int32_t filler, Problems& problems) {
  for (const auto& op : main_subgraph(graph).ops) {
    if (op->attributes.type == fb::OpAttributes::KeySums) {
      problems.add(
          ExitCode::kUnsupported,
          "attention by sums over keys cannot leave out tokens that queries are filled up with; train the model to "
          "look at them, too (attend_to_mask_tokens, attend_to_expansion_tokens), or do not fill queries up");
      return;
    }
    fb::AttentionT* attention = op->attributes.AsAttention();
    if (attention == nullptr) continue;
    if (attention->mask >= fb::MaskKind::globals) {
      problems.add(ExitCode::kUnsupported,
                   op->name +
                       ": attention to global tokens or to blocks sees the tokens that queries are filled up "
                       "with; a model whose queries attend to them (attend_to_expansion_tokens) converts");
      return;
    }
    const bool window = attention->mask == fb::MaskKind::window;
    attention->mask = window ? fb::MaskKind::window_fillers : fb::MaskKind::fillers;
    attention->filler = filler;
  }
}

}  // namespace

void resolve_token_vectors(Graph& graph, const TokenVectorSettings& settings, Problems& problems) {
  const Tokens tokens(graph);
  LateInteraction out;
  if (graph.model.tokenizers.empty()) {
    if (settings.filled == 0) return;
    problems.add(ExitCode::kUnsupported,
                 "queries are filled up with a token of the tokenizer, and there is none; leave out --ids-only");
    return;
  }
  out.query = resolve(settings.query, settings.inserts, tokens, problems);
  out.document = resolve(settings.document, settings.inserts, tokens, problems);
  out.filled = settings.filled;
  if (settings.filled != 0) {
    out.filler = settings.filler.empty() ? tokens.mask() : tokens.any(settings.filler);
    if (out.filler < 0) {
      problems.add(ExitCode::kInvalid, fmt::format("the tokenizer has no {}, which queries are filled up with",
                                                   settings.filler.empty() ? "mask" : "token " + settings.filler));
    } else if (!settings.attends) {
      hide(graph, out.filler, problems);
    }
  }
  std::vector<std::string> unknown;
  for (const std::string& word : settings.skipped) {
    const int32_t id = tokens.any(word);
    if (id < 0) {
      unknown.push_back(word);
    } else {
      out.skipped.push_back(id);
    }
  }
  std::sort(out.skipped.begin(), out.skipped.end());
  out.skipped.erase(std::unique(out.skipped.begin(), out.skipped.end()), out.skipped.end());
  if (!unknown.empty()) {
    graph.notes.push_back(
        fmt::format("documents' tokens that the tokenizer does not have are not skipped: {}", fmt::join(unknown, " ")));
  }
  auto property = std::make_unique<fb::PropertyT>();
  property->key = kLateInteraction;
  property->value = write_late_interaction(out);
  graph.model.properties.push_back(std::move(property));
}

}  // namespace bantam::convert
