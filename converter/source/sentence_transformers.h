// sentence-transformers directories: modules.json and the modules after the transformer.
#ifndef BANTAM_CONVERTER_SOURCE_SENTENCE_TRANSFORMERS_H_
#define BANTAM_CONVERTER_SOURCE_SENTENCE_TRANSFORMERS_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/builder.h"

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

/// True when `directory` has a modules.json.
bool is_sentence_transformers(const std::filesystem::path& directory);

/// True when the first of its modules is a table of static embeddings.
bool has_static_module(const std::filesystem::path& directory);

/// True when its modules give a vector a token: none pools, and some project tokens or say which of them count.
bool gives_token_vectors(const std::filesystem::path& directory);

/// The folders of its modules of this type, in their order.
std::vector<std::filesystem::path> module_directories(const std::filesystem::path& directory, const std::string& type);

/// Where the transformer, or the table, itself lies: `directory` or the subfolder that modules.json names.
std::filesystem::path transformer_directory(const std::filesystem::path& directory);

/// Files that say what stands after the transformer, relative to `directory`; only those that exist.
std::vector<std::string> sentence_transformers_files(const std::filesystem::path& directory);

/// Reads the modules after the transformer. Unsupported modules and settings go to `problems`; other
/// prompts than the default one to `notes`. `hidden`: width of the encoder.
SentencePooling read_sentence_pooling(const std::filesystem::path& directory, uint32_t hidden, Problems& problems,
                                      std::vector<std::string>& notes);

/// True when its modules give weights of terms (SPLADE).
bool gives_terms(const std::filesystem::path& directory);

/// How they do; as most models do (the largest of tokens) where the directory is a plain one.
SentencePooling read_term_pooling(const std::filesystem::path& directory, Problems& problems,
                                  std::vector<std::string>& notes);

/// The same of a directory that gives token vectors, where nothing pools. PyLate's modules leave out the last one, which divides
/// vectors by their length.
SentencePooling read_token_modules(const std::filesystem::path& directory, uint32_t hidden, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SENTENCE_TRANSFORMERS_H_
