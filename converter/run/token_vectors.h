// Files with a vector per token (ColBERT, arXiv 2004.12832): queries and documents as their tokens' vectors, and how
// well they match.
#ifndef BANTAM_CONVERTER_RUN_TOKEN_VECTORS_H_
#define BANTAM_CONVERTER_RUN_TOKEN_VECTORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam/tasks.h"
#include "graph/late_interaction.h"
#include "run/engine.h"

namespace bantam::convert {

/// The tokens of a text that have a vector: all tokens of a query, with its marker and its padding; those of a document
/// except the ones that the file skips.
struct TokenVectors {
  std::vector<int32_t> ids;
  std::vector<float> values;  // width numbers a token, one token after the other
  uint32_t width = 0;
  bool truncated = false;
};

class TokenEmbedder {
 public:
  /// `engine` runs a file of this task with a tokenizer, and outlives the embedder. Throws Error if the file's settings
  /// are damaged.
  explicit TokenEmbedder(Engine& engine);

  /// Embeds any number of texts, in as few runs as the engine allows.
  std::vector<TokenVectors> embed(const std::vector<std::string>& texts, TextRole role);

 private:
  std::vector<int32_t> tokens(const std::string& text, TextRole role, bool* truncated) const;
  /// Makes one run; writes one text to each element of `out`.
  void run_ids(const std::vector<int32_t>& ids, const std::vector<uint32_t>& offsets, TextRole role, TokenVectors* out);

  Engine& engine_;
  LateInteraction settings_;
};

/// Returns the sum over the query's tokens of the largest product with a document token; 0 for a document without
/// tokens. O(query tokens * document tokens * width).
float max_similarity(const TokenVectors& query, const TokenVectors& document);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_TOKEN_VECTORS_H_
