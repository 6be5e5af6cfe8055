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

/// The config key that sets the pooling of a source that is not a sentence-transformers directory: vectors are the
/// "mean", "cls" or "last" of the rows, normalized to unit length.
inline constexpr const char* kTextPooling = "text_pooling";

/// A Dense module: Linear and an activation on the pooled row, or on each token's row.
struct DenseModule {
  std::string name;     // of the folder: "2_Dense"
  std::string tensors;  // prefix of its tensors' names: "2_Dense.linear"
  uint32_t in = 0, out = 0;
  Values weight, bias;  // a bias without values is absent
  fb::ActivationKind activation = fb::ActivationKind::none;
};

/// How word scores become term weights; see Linear in the schema.
struct TermPooling {
  uint8_t saturations = 1;
  bool sums = false;
};

/// The steps that turn token rows into the sentence embedding.
struct SentencePooling {
  fb::PoolKind pool = fb::PoolKind::mean;
  bool attends = false;  // uses attention pooling instead (network/blocks/attention_pooling.h)
  std::vector<DenseModule> dense;
  bool normalize = true;
  bool include_prompt = true;                                // the prompt's tokens are pooled, too
  uint32_t truncate_dim = 0;                                 // columns of the vector to keep; 0: all
  std::string prompt;                                        // inserted before every text
  std::optional<std::string> query_prompt, document_prompt;  // prompts for queries and documents that replace `prompt`
  std::string similarity;                                    // "dot", "euclidean", "manhattan"; "": cosine
  uint32_t max_tokens = 0;  // sentence_bert_config.json's max_seq_length; 0: not stated
  bool lowercase = false;   // sentence_bert_config.json's do_lower_case
  TermPooling terms;        // of sparse embeddings, which use no other member

  /// Returns the width of the vector for rows of `hidden` columns.
  uint32_t width(uint32_t hidden) const {
    const uint32_t all = dense.empty() ? hidden : dense.back().out;
    return truncate_dim == 0 || truncate_dim > all ? all : truncate_dim;
  }
};

/// Returns the existing files that describe the modules after the transformer, relative to the folder of modules.json.
std::vector<std::string> sentence_transformers_files(const ModelSource& source);

/// Reads the modules after the transformer. Adds unsupported modules and settings to `problems`, and prompts that are
/// not stored to `notes`: all except the default prompt and those of queries and documents. `hidden`: width of the
/// encoder.
SentencePooling read_sentence_pooling(const ModelSource& source, uint32_t hidden, Problems& problems,
                                      std::vector<std::string>& notes);

/// Returns true for a CrossEncoder as saved by sentence-transformers 6: a transformer alone, which scores pairs.
bool is_cross_encoder(const ModelSource& source);

/// Reads a CrossEncoder's token limit, letter case and default prompt, which is inserted before the first text of each
/// pair.
SentencePooling read_cross_encoder(const ModelSource& source, Problems& problems, std::vector<std::string>& notes);

/// Returns the name of the function that turns a pair's output into a score ("Identity"), from
/// config_sentence_transformers.json or `config`, which is config.json; "" if none is named.
std::string score_function(const ModelSource& source, const Fields& config, Problems& problems);

/// Reads how the modules compute term weights. Without modules it is the maximum over a text's tokens, as in most
/// models.
SentencePooling read_term_pooling(const ModelSource& source, Problems& problems, std::vector<std::string>& notes);

/// Reads the modules of token vectors, which have no pooling. PyLate's files omit the last module, which normalizes
/// vectors.
SentencePooling read_token_modules(const ModelSource& source, uint32_t hidden, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SENTENCE_TRANSFORMERS_H_
