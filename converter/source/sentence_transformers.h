// sentence-transformers directories: modules.json and the modules after the transformer.
#ifndef BANTAM_CONVERTER_SOURCE_SENTENCE_TRANSFORMERS_H_
#define BANTAM_CONVERTER_SOURCE_SENTENCE_TRANSFORMERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/builder.h"
#include "source/model_source.h"

namespace bantam::convert {

/// In settings of a source that is no directory of theirs: its vectors are "mean", "cls" or "last" of rows, divided by their length.
inline constexpr const char* kTextPooling = "text_pooling";

/// A Dense module: Linear and an activation on the pooled row, or on each token's.
struct DenseModule {
  std::string name;     // of the folder: "2_Dense"
  std::string tensors;  // what its tensors' names begin with: "2_Dense.linear"
  uint32_t in = 0, out = 0;
  Values weight, bias;  // bias without values: none
  fb::ActivationKind activation = fb::ActivationKind::none;
};

/// How scores of words become weights of terms; Linear in the schema.
struct TermPooling {
  uint8_t saturations = 1;
  bool sums = false;
};

/// What turns token rows into the sentence embedding.
struct SentencePooling {
  fb::PoolKind pool = fb::PoolKind::mean;
  bool attends = false;  // instead: pooling by attention (network/blocks/attention_pooling.h)
  std::vector<DenseModule> dense;
  bool normalize = true;
  std::string prompt;       // put before every text
  uint32_t max_tokens = 0;  // sentence_bert_config.json's max_seq_length; 0: not stated
  bool lowercase = false;   // its do_lower_case
  TermPooling terms;        // of sparse embeddings, which have none of the others
};

/// Files that say what stands after the transformer, relative to the folder of modules.json; only those that are there.
std::vector<std::string> sentence_transformers_files(const ModelSource& source);

/// Reads the modules after the transformer. Unsupported modules and settings go to `problems`; other
/// prompts than the default one to `notes`. `hidden`: width of the encoder.
SentencePooling read_sentence_pooling(const ModelSource& source, uint32_t hidden, Problems& problems,
                                      std::vector<std::string>& notes);

/// How the modules give weights of terms; the largest of a text's tokens, as most models do, where there are no
/// modules.
SentencePooling read_term_pooling(const ModelSource& source, Problems& problems, std::vector<std::string>& notes);

/// The modules of token vectors, where nothing pools. PyLate's leave out the last one, which divides vectors by their
/// length.
SentencePooling read_token_modules(const ModelSource& source, uint32_t hidden, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SENTENCE_TRANSFORMERS_H_
