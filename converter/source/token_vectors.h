// Models of a vector a token (ColBERT, arXiv 2004.12832): what their directories say of queries and documents.
#ifndef BANTAM_CONVERTER_SOURCE_TOKEN_VECTORS_H_
#define BANTAM_CONVERTER_SOURCE_TOKEN_VECTORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"
#include "source/model_source.h"

namespace bantam::convert {

/// As the directory has it, in texts: the tokenizer knows their ids.
struct TokenVectorSettings {
  struct Side {
    std::string prefix;       // "": none
    uint32_t max_tokens = 0;  // 0: not stated
  };
  Side query, document;
  /// Prefixes are tokens, whether or not the tokenizer would find them in a text.
  bool inserts = false;
  uint32_t filled = 0;               // tokens that queries are filled up to; 0: they are not
  std::string filler;                // "": the tokenizer's mask
  bool attends = false;              // tokens see what fills queries up
  std::vector<std::string> skipped;  // tokens of documents that have no vector
};

/// The file of colbert-ir's settings.
constexpr const char* kColbertSettings = "artifact.metadata";

/// Is this the config.json of colbert-ir's layout: a linear layer beside the encoder, in the same file?
bool is_colbert(const Json& config);

/// Reads artifact.metadata of colbert-ir's layout; else config_sentence_transformers.json and the settings of the modules of
/// PyLate's or sentence-transformers' own; what none of them says is as colbert-ir's code has it. A directory with neither says nothing:
/// its texts have no prefixes. Problems name file and field.
TokenVectorSettings read_token_vector_settings(const ModelSource& source, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_TOKEN_VECTORS_H_
