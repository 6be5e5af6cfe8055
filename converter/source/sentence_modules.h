// modules.json of a sentence-transformers directory.
#ifndef BANTAM_CONVERTER_SOURCE_SENTENCE_MODULES_H_
#define BANTAM_CONVERTER_SOURCE_SENTENCE_MODULES_H_

#include <string>
#include <vector>

#include "base/directory.h"

namespace bantam::convert {

inline constexpr const char* kModulesFile = "modules.json";
inline constexpr const char* kPromptsFile = "config_sentence_transformers.json";
/// In the folder of a module that is a transformer.
inline constexpr const char* kTransformerFile = "sentence_bert_config.json";

struct SentenceModule {
  std::string type;    // last part of the class's dotted name: "Pooling"
  std::string folder;  // relative to modules.json; "": its own

  bool is_transformer() const { return type == "Transformer" || type == "MLMTransformer"; }
  bool is_static() const { return type == "StaticEmbedding"; }
  bool gives_terms() const { return type == "SpladePooling"; }
};

struct SentenceModules {
  std::vector<SentenceModule> list;  // empty: there is no modules.json

  bool empty() const { return list.empty(); }
  /// Is the first one a table of static embeddings?
  bool begin_static() const { return !empty() && list.front().is_static(); }
  /// Do they give a vector a token? None pools, and some project tokens or say which of them count.
  bool give_token_vectors() const;
  /// Do they give weights of terms (SPLADE)?
  bool give_terms() const;
  /// Is there a transformer alone, as sentence-transformers 6 saves a CrossEncoder? Nothing pools then.
  bool alone() const { return list.size() == 1 && list.front().is_transformer(); }
};

/// Reads modules.json in a folder of `files`; no modules where there is none. Throws Error for one that is no list of
/// modules, and for modules outside its folder.
SentenceModules read_sentence_modules(const Directory& files, const std::string& folder = "");

/// The folder in `files` where the transformer, or the table, lies, by modules that were read from its root; "": in the
/// root. Throws Error (unsupported) where none of the modules is either.
std::string transformer_folder(const Directory& files, const SentenceModules& modules);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SENTENCE_MODULES_H_
