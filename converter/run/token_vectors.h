// Files with one vector per token (ColBERT, arXiv 2004.12832): represents queries and documents by the vectors of their
// tokens, and computes how well they match.
#ifndef BANTAM_CONVERTER_RUN_TOKEN_VECTORS_H_
#define BANTAM_CONVERTER_RUN_TOKEN_VECTORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam/tasks.h"
#include "graph/late_interaction.h"
#include "run/engine.h"

namespace bantam::convert {

/// The tokens of a text that have a vector: all tokens of a query, including its marker and padding; all tokens of a
/// document except those that the file skips.
struct TokenVectors {
  std::vector<int32_t> ids;
  std::vector<float> values;  // `width` numbers per token, one token after the other
  uint32_t width = 0;
  bool truncated = false;
};

class TokenEmbedder {
 public:
  /// `engine` must run a file of this task with a tokenizer, and outlive the embedder. Throws Error if the file's
  /// settings are damaged.
  explicit TokenEmbedder(Engine& engine);

  /// Embeds any number of texts, in as few runs as the engine allows.
  std::vector<TokenVectors> embed(const std::vector<std::string>& texts, TextRole role);

 private:
  std::vector<int32_t> tokens(const std::string& text, TextRole role, bool* truncated) const;
  /// Runs once and writes one text to each element of `out`.
  void run_ids(const std::vector<int32_t>& ids, const std::vector<uint32_t>& offsets, TextRole role, TokenVectors* out);

  Engine& engine_;
  LateInteraction settings_;
};

/// Returns the sum, over the query's tokens, of the largest dot product with a token of the document; 0 for a document
/// without tokens. O(query tokens * document tokens * width).
float max_similarity(const TokenVectors& query, const TokenVectors& document);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_TOKEN_VECTORS_H_
