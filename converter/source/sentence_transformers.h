// sentence-transformers directories: modules.json and the modules after the transformer.
#ifndef BANTAM_CONVERTER_SOURCE_SENTENCE_TRANSFORMERS_H_
#define BANTAM_CONVERTER_SOURCE_SENTENCE_TRANSFORMERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/builder.h"
#include "source/fields.h"
#include "source/model_source.h"

namespace bantam::convert {

/// The setting of a source that is no sentence-transformers directory: its vectors are the "mean", "cls" or "last" of
/// rows, divided by their length.
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

/// The steps that turn token rows into the sentence embedding.
struct SentencePooling {
  fb::PoolKind pool = fb::PoolKind::mean;
  bool attends = false;  // instead: pooling by attention (network/blocks/attention_pooling.h)
  std::vector<DenseModule> dense;
  bool normalize = true;
  bool include_prompt = true;                                // the prompt's tokens are pooled, too
  uint32_t truncate_dim = 0;                                 // columns that are kept of the vector; 0: all
  std::string prompt;                                        // put before every text
  std::optional<std::string> query_prompt, document_prompt;  // instead, before queries and documents
  std::string similarity;                                    // "dot", "euclidean", "manhattan"; "": the cosine
  uint32_t max_tokens = 0;  // sentence_bert_config.json's max_seq_length; 0: not stated
  bool lowercase = false;   // its do_lower_case
  TermPooling terms;        // of sparse embeddings, which have none of the others

  /// Returns the number of columns of the vector, from rows of `hidden` columns.
  uint32_t width(uint32_t hidden) const {
    const uint32_t all = dense.empty() ? hidden : dense.back().out;
    return truncate_dim == 0 || truncate_dim > all ? all : truncate_dim;
  }
};

/// Returns the files that describe the modules after the transformer, relative to the folder of modules.json; only
/// those that exist.
std::vector<std::string> sentence_transformers_files(const ModelSource& source);

/// Reads the modules after the transformer. Unsupported modules and settings go to `problems`; prompts that are not stored to
/// `notes`: those that are neither the default one nor the query's or the document's. `hidden`: width of the encoder.
SentencePooling read_sentence_pooling(const ModelSource& source, uint32_t hidden, Problems& problems,
                                      std::vector<std::string>& notes);

/// Returns true for a CrossEncoder as sentence-transformers 6 saves it: only a transformer, which scores pairs.
bool is_cross_encoder(const ModelSource& source);

/// Reads a CrossEncoder's limit of tokens, letter case and default prompt, which stands before the first text of each
/// pair.
SentencePooling read_cross_encoder(const ModelSource& source, Problems& problems, std::vector<std::string>& notes);

/// Returns the name of the function that turns a pair's number into a score ("Identity"), from
/// config_sentence_transformers.json or `config`, which is config.json; "": none is named.
std::string score_function(const ModelSource& source, const Fields& config, Problems& problems);

/// Reads how the modules compute weights of terms; without modules the largest of a text's tokens, as in most models.
SentencePooling read_term_pooling(const ModelSource& source, Problems& problems, std::vector<std::string>& notes);

/// Reads the modules of token vectors, where nothing pools. PyLate's files leave out the last module, which divides
/// vectors by their length.
SentencePooling read_token_modules(const ModelSource& source, uint32_t hidden, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SENTENCE_TRANSFORMERS_H_
