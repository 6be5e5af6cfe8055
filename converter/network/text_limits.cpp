#include "network/text_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "text/encoder.h"

namespace bantam::convert {
namespace {

/// Lets the template pad texts to the full length that the model was trained with.
void fill_up(fb::TokenizerT& tokenizer, const TextLimits& limits, Problems& problems) {
  if (limits.positions < limits.model_positions) {
    problems.add(ExitCode::kUsage, fmt::format("--max-tokens {}: texts of {} are filled up to {} tokens, all of which "
                                               "count; leave it out",
                                               limits.positions, limits.model_type, limits.model_positions));
  }
  if (tokenizer.pad_id < 0) {
    problems.add(ExitCode::kInvalid, "tokenizer_config.json: pad_token: is missing, which fills texts up");
  }
  for (auto* pieces : {&tokenizer.single, &tokenizer.pair}) pieces->emplace_back(-1, text::kFillPiece, 0);
}

/// The file that lists a tokenizer's pieces.
std::string vocabulary_file(const TokenizerFiles& files) {
  if (!files.json.is_null()) return files.json_name;
  if (files.vocab) return "vocab.txt";
  if (!files.letters.is_null()) return "vocab.json";
  return files.pieces ? files.pieces->name : "the tokenizer";
}

}  // namespace

void add_tokenizer(Graph& graph, const TokenizerFiles& files, const TextLimits& limits, const SentencePooling& pooling,
                   Problems& problems) {
  const uint32_t positions = limits.positions;
  std::vector<std::string> found;
  bool unsupported = false;
  const bool added = import_tokenizer(files, graph, found, &unsupported, pooling.lowercase);
  for (std::string& problem : found) {
    problems.add(unsupported ? ExitCode::kUnsupported : ExitCode::kInvalid, std::move(problem));
  }
  if (!added || graph.model.tokenizers.empty()) {
    if (found.empty())
      graph.notes.emplace_back("the directory holds no tokenizer: the file takes token ids only (--ids)");
    return;
  }
  fb::TokenizerT& tokenizer = *graph.model.tokenizers[graph.model.source_tokenizer];
  if (limits.averaged && !files.words) {
    // The libraries add no special tokens, and cut texts at their own limit.
    tokenizer.single = {fb::TemplatePiece(-1, 0, 0)};
    tokenizer.pair = {fb::TemplatePiece(-1, 0, 0), fb::TemplatePiece(-1, 1, 0)};
    tokenizer.max_length = positions;
  }
  // sentence-transformers truncates at its own limit, whatever the tokenizer's files say.
  if (pooling.max_tokens != 0) tokenizer.max_length = pooling.max_tokens;
  const bool stated = tokenizer.max_length != 0 && tokenizer.max_length < positions;
  if (!stated) tokenizer.max_length = positions;
  const auto is_special = [](const fb::TemplatePiece& piece) { return piece.token() >= 0; };
  const auto specials =
      static_cast<size_t>(std::count_if(tokenizer.single.begin(), tokenizer.single.end(), is_special));
  if (tokenizer.max_length <= specials) {
    problems.add(ExitCode::kInvalid,
                 fmt::format("{}: texts of at most {} tokens have no room beside {} special tokens; set {} to more",
                             stated ? "the tokenizer" : "the model", tokenizer.max_length, specials,
                             stated ? "model_max_length (max_seq_length in sentence_bert_config.json)"
                                    : "--max-tokens or max_position_embeddings"));
  } else if (stated) {
    graph.notes.push_back(
        fmt::format("texts are cut at {} tokens, as the tokenizer's files say; the model has {} "
                    "positions",
                    tokenizer.max_length, positions));
  }
  if (limits.filled) fill_up(tokenizer, limits, problems);
  for (const auto& other : graph.model.tokenizers) {
    if (other->max_length == 0) other->max_length = positions;
  }
  const uint32_t hidden = tokenizer.model->hidden_from, tokens = hidden == 0 ? tokenizer.vocab_size : hidden;
  if (tokens > limits.vocabulary && !limits.table_of.empty()) {
    problems.add(
        ExitCode::kInvalid,
        fmt::format("{}: has {} pieces, and the table of words in {} {} rows: the two do not belong together; put the "
                    "model's own tokenizer there, or convert with --ids-only",
                    vocabulary_file(files), tokens, limits.table_of, limits.vocabulary));
  } else if (tokens > limits.vocabulary) {
    graph.notes.push_back(
        fmt::format("the tokenizer knows {} tokens, the model {}: text with one of the last {} cannot be run", tokens,
                    limits.vocabulary, tokens - limits.vocabulary));
  }
}

}  // namespace bantam::convert
