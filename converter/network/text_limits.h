// Adds the tokenizer of a text model, with the limits that the rest of its source sets.
#ifndef BANTAM_CONVERTER_NETWORK_TEXT_LIMITS_H_
#define BANTAM_CONVERTER_NETWORK_TEXT_LIMITS_H_

#include <cstdint>
#include <string>

#include "base/error.h"
#include "graph/graph.h"
#include "source/sentence_transformers.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {

struct TextLimits {
  uint32_t positions = 0;        // the largest number of tokens of a text in the file
  uint32_t model_positions = 0;  // and in the source
  uint32_t vocabulary = 0;
  std::string model_type;
  // The file with the table of words, if a tokenizer with more pieces than rows is an error; otherwise "".
  std::string table_of;
  bool averaged = false;  // a model that averages word vectors: no special tokens
  bool filled = false;    // texts are padded to full length, and padding counts
};

/// Adds the tokenizer if the source has one. Errors go to `problems`, remarks for the user to the graph's notes.
void add_tokenizer(Graph& graph, const TokenizerFiles& files, const TextLimits& limits, const SentencePooling& pooling,
                   Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_TEXT_LIMITS_H_
