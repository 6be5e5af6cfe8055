// modules.json of a sentence-transformers directory.
#ifndef BANTAM_CONVERTER_SOURCE_SENTENCE_MODULES_H_
#define BANTAM_CONVERTER_SOURCE_SENTENCE_MODULES_H_

#include <string>
#include <vector>

#include "base/directory.h"

namespace bantam::convert {

inline constexpr const char* kModulesFile = "modules.json";
inline constexpr const char* kPromptsFile = "config_sentence_transformers.json";
/// The settings file in the folder of a transformer module.
inline constexpr const char* kTransformerFile = "sentence_bert_config.json";

struct SentenceModule {
  std::string type;    // last component of the class's dotted name: "Pooling"
  std::string folder;  // relative to modules.json; "": the same folder

  bool is_transformer() const { return type == "Transformer" || type == "MLMTransformer"; }
  bool is_static() const { return type == "StaticEmbedding"; }
  bool gives_terms() const { return type == "SpladePooling"; }
};

struct SentenceModules {
  std::vector<SentenceModule> list;  // empty: there is no modules.json

  bool empty() const { return list.empty(); }
  /// Returns true if the first module is a table of static embeddings.
  bool begin_static() const { return !empty() && list.front().is_static(); }
  /// Returns true if they compute one vector per token: no module pools, and some project tokens or select those that
  /// count.
  bool give_token_vectors() const;
  /// Returns true if they compute term weights (SPLADE).
  bool give_terms() const;
  /// Returns true for a transformer alone, the form in which sentence-transformers 6 saves a CrossEncoder, without
  /// pooling.
  bool alone() const { return list.size() == 1 && list.front().is_transformer(); }
};

/// Reads modules.json in a folder of `files`; no modules if it does not exist. Throws Error if it is not a list of
/// modules, or if it names modules outside its folder.
SentenceModules read_sentence_modules(const Directory& files, const std::string& folder = "");

/// Returns the folder in `files` of the transformer or the table, according to modules that were read from the root;
/// "": the root. Throws Error (unsupported) if no module is either.
std::string transformer_folder(const Directory& files, const SentenceModules& modules);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SENTENCE_MODULES_H_
