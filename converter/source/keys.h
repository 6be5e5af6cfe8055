// Keys of the JSON files beside a model: those that bantam reads, those that cannot change an answer, and those that
// bantam does not read although they may change an answer. keys/*.inc has one row per key.
#ifndef BANTAM_CONVERTER_SOURCE_KEYS_H_
#define BANTAM_CONVERTER_SOURCE_KEYS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "source/fields.h"
#include "source/model_source.h"

namespace bantam::convert {

/// Kinds of JSON files and of their parts. kComponent: a normalizer, splitter, post-processor or decoder of
/// tokenizer.json. kMadeTexts: keys of tokenizer_config.json about generated texts.
enum class KeyFile {
  kConfig,
  kGeneration,
  kTokenizer,
  kComponent,
  kTokenizerConfig,
  kMadeTexts,
  kSpecialTokens,
  kAddedTokens,
  kSentenceTransformers,
  kSentenceBert,
  kModules,
  kPooling,
  kDense,
  kNormalize,
  kTerms,
  kMask,
  kSetFit,
  kAdapter,
  kProcessor,
  kGlinerConfig,
  kColbert,
  kStatic
};

/// kSupported: the conversion reads the key. kWithoutEffect: it cannot change an answer of the converted model.
/// kUnsupported: it can, and nothing reads it. kRefused: the file's reader refuses values that it does not support.
enum class KeyState { kSupported, kWithoutEffect, kUnsupported, kRefused };

/// A row of keys/*.inc.
struct KeyRow {
  KeyFile kind;
  /// Names joined by dots. "[]" stands for all items of a list, a final "*" for all other keys of its object.
  const char* path;
  KeyState state;
  /// JSON values, separated by " | ", for which the key has no effect; "": none are known.
  const char* neutral;
  const char* effect;  // what the key would change, or why it has no effect
};

/// All rows, in the order of the files.
const std::vector<KeyRow>& key_rows();

/// A key that may change answers and that nothing has read.
struct SourceKey {
  std::string file, key;
  std::string value;   // JSON in ASCII, truncated if it is long
  std::string effect;  // what it may change
};

/// How a conversion uses its source.
struct KeyUse {
  const KeyReads* reads = nullptr;  // keys of config.json and generation_config.json that the conversion has read
  bool generates = false;           // the model generates texts, so that settings of generation matter
  bool reads_texts = false;         // the model has a tokenizer
  bool reads_images = false;
  /// An ONNX file defines the layers, so that unknown keys of config.json do not matter.
  bool graph_states_layers = false;
};

/// A JSON document beside a model.
struct KeyDocument {
  KeyFile kind;
  std::string file;                  // its name in reports
  std::shared_ptr<const Json> json;  // not null
};

/// Returns the documents of a source that the conversion uses; some of them point into `source`. Omits unreadable
/// files: their readers report them.
std::vector<KeyDocument> key_documents(const ModelSource& source, const KeyUse& use);

/// Returns keys of the tokenizer's files that contradict each other; which file wins depends on the release of
/// transformers.
std::vector<SourceKey> contradicting_keys(const ModelSource& source);

/// Returns keys of the source's documents that are unknown, or that are unsupported and have a value with an effect.
/// Returns at most kMostSourceKeys, the last of which then gives the number of omitted keys.
std::vector<SourceKey> unread_keys(const ModelSource& source, const KeyUse& use);
inline constexpr size_t kMostSourceKeys = 64;

/// "FILE: KEY: VALUE: EFFECT".
std::string to_line(const SourceKey& key);

/// The property of a file that lists these keys as JSON, and its parser, which returns an empty list for any other
/// text.
inline constexpr const char* kSourceKeys = "source_keys";
std::string source_keys_json(const std::vector<SourceKey>& keys);
std::vector<SourceKey> parse_source_keys(const std::string& json);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_KEYS_H_
