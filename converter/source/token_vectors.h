// Models with one vector per token (ColBERT, arXiv 2004.12832): the settings for queries and documents in their
// directories.
#ifndef BANTAM_CONVERTER_SOURCE_TOKEN_VECTORS_H_
#define BANTAM_CONVERTER_SOURCE_TOKEN_VECTORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"
#include "source/model_source.h"

namespace bantam::convert {

/// The directory's settings, with tokens as texts; the tokenizer knows their ids.
struct TokenVectorSettings {
  struct Side {
    std::string prefix;       // "": none
    uint32_t max_tokens = 0;  // 0: not stated
  };
  Side query, document;
  /// Prefixes are inserted as tokens, whether or not the tokenizer would find them in a text.
  bool inserts = false;
  uint32_t filled = 0;               // length in tokens to which queries are padded; 0: no padding
  std::string filler;                // padding token; "": the tokenizer's mask
  bool attends = false;              // tokens attend to the padding of queries
  std::vector<std::string> skipped;  // document tokens without a vector
};

/// The settings file of colbert-ir.
constexpr const char* kColbertSettings = "artifact.metadata";

/// Returns true for a config.json of colbert-ir's layout: a linear layer after the encoder, in the same file.
bool is_colbert(const Json& config);

/// Reads artifact.metadata of colbert-ir's layout, else config_sentence_transformers.json and the module settings of
/// PyLate or sentence-transformers; missing settings have the defaults of colbert-ir's code. A directory with neither
/// has no prefixes. Problems name the file and the field.
TokenVectorSettings read_token_vector_settings(const ModelSource& source, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_TOKEN_VECTORS_H_
