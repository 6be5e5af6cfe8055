// Files of a vector a token (ColBERT, arXiv 2004.12832): queries and documents as their tokens' vectors, and how well they match.
#ifndef BANTAM_CONVERTER_RUN_TOKEN_VECTORS_H_
#define BANTAM_CONVERTER_RUN_TOKEN_VECTORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam/tasks.h"
#include "graph/late_interaction.h"
#include "run/engine.h"

namespace bantam::convert {

/// A text's tokens that have a vector: a query's all, with its marker and what fills it up; a document's but for those that the file
/// skips.
struct TokenVectors {
  std::vector<int32_t> ids;
  std::vector<float> values;  // width numbers a token, one token after the other
  uint32_t width = 0;
  bool truncated = false;
};

class TokenEmbedder {
 public:
  /// Of a file of that task with a tokenizer. `engine` outlives the embedder. Throws Error where the file's settings are damaged.
  explicit TokenEmbedder(Engine& engine);

  /// Of any number of texts, in as few runs as the engine takes.
  std::vector<TokenVectors> embed(const std::vector<std::string>& texts, TextRole role);

 private:
  std::vector<int32_t> tokens(const std::string& text, TextRole role, bool* truncated) const;
  /// One run; a text each to `out`.
  void run_ids(const std::vector<int32_t>& ids, const std::vector<uint32_t>& offsets, TextRole role, TokenVectors* out);

  Engine& engine_;
  LateInteraction settings_;
};

/// The sum over the query's tokens of the largest product with one of the document's; 0 of a document without tokens. O(query tokens *
/// document tokens * width).
float max_similarity(const TokenVectors& query, const TokenVectors& document);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_TOKEN_VECTORS_H_
