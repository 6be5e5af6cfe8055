// A random model with the shipped model's tokenizer, for tests of text batches. Needs the converter's importer.
#ifndef BANTAM_TESTS_SESSION_TOKENIZER_MODEL_H_
#define BANTAM_TESTS_SESSION_TOKENIZER_MODEL_H_

#include <stdexcept>

#include "tests/session/bert.h"
#include "tokenizer/tokenizer.h"

namespace bantam::testing {

/// `max_tokens`: the tokenizer's limit for texts; 0: none.
inline std::vector<uint8_t> model_with_tokenizer(WeightType type, uint32_t max_tokens = 0) {
  convert::Graph graph;
  std::vector<std::string> problems;
  if (!convert::import_tokenizer(BANTAM_SOURCE_DIR "/models/voice-commands", graph, problems)) {
    throw std::runtime_error("the shipped model's tokenizer cannot be imported");
  }
  BertShape shape;
  shape.vocabulary = graph.model.tokenizers[0]->vocab_size;
  ModelBuilder builder = build(random_bert(shape, 2), type);
  for (convert::RawBlob& blob : graph.blobs) {
    *blob.target = fb::Blob(builder.data.size(), blob.bytes.size(), 0, 0);
    builder.data.insert(builder.data.end(), blob.bytes.begin(), blob.bytes.end());
    builder.data.resize((builder.data.size() + 63) / 64 * 64);
  }
  builder.model.tokenizers = std::move(graph.model.tokenizers);
  builder.model.tokenizers[0]->max_length = max_tokens;
  return builder.finish();
}

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_SESSION_TOKENIZER_MODEL_H_
