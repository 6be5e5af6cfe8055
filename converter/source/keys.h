// Keys of the JSON files beside a model: which of them bantam reads, which cannot change an answer, and which it leaves
// unread although they may. keys/*.inc has a row for each key.
#ifndef BANTAM_CONVERTER_SOURCE_KEYS_H_
#define BANTAM_CONVERTER_SOURCE_KEYS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "source/fields.h"
#include "source/model_source.h"

namespace bantam::convert {

/// Kinds of JSON files and of parts of them. kComponent: a normalizer, splitter, post-processor or decoder of tokenizer.json.
/// kMadeTexts: keys of tokenizer_config.json about texts that a model generates.
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

/// kSupported: the conversion reads the key. kWithoutEffect: it cannot change an answer of the converted model. kUnsupported: it
/// can, and nothing reads it. kRefused: a reader of the file refuses what it cannot follow.
enum class KeyState { kSupported, kWithoutEffect, kUnsupported, kRefused };

/// A row of keys/*.inc.
struct KeyRow {
  KeyFile kind;
  /// Names with points between them; "[]" stands for every item of a list, a last name "*" for every other key of its object.
  const char* path;
  KeyState state;
  /// JSON values with " | " between them for which the key has no effect; "": none is known.
  const char* neutral;
  const char* effect;  // what the key would change, or why it changes nothing
};

/// Every row, in the order of the files.
const std::vector<KeyRow>& key_rows();

/// A key that may change answers, and that nothing read.
struct SourceKey {
  std::string file, key;
  std::string value;   // JSON in ASCII, its end cut off where it is long
  std::string effect;  // what it may change
};

/// How a conversion uses its source.
struct KeyUse {
  const KeyReads* reads = nullptr;  // keys of config.json and generation_config.json that it asked for
  bool generates = false;           // it makes texts: settings of generation count
  bool reads_texts = false;         // it has the tokenizer
  bool reads_images = false;
  bool graph_states_layers = false;  // an ONNX file: unknown keys of config.json say nothing
};

/// A JSON document beside a model.
struct KeyDocument {
  KeyFile kind;
  std::string file;                  // what reports call it
  std::shared_ptr<const Json> json;  // not null
};

/// Returns the documents of a source that the conversion uses; some of them point into `source`. Leaves out files that
/// cannot be read: their readers refuse them.
std::vector<KeyDocument> key_documents(const ModelSource& source, const KeyUse& use);

/// Returns keys of the tokenizer's files that contradict each other, for which releases of transformers follow
/// different files.
std::vector<SourceKey> contradicting_keys(const ModelSource& source);

/// Returns keys of the source's documents that are unknown, or that are unsupported and have a value with an effect: at
/// most kMostSourceKeys, the last of which then says how many are left out.
std::vector<SourceKey> unread_keys(const ModelSource& source, const KeyUse& use);
inline constexpr size_t kMostSourceKeys = 64;

/// "FILE: KEY: VALUE: EFFECT".
std::string to_line(const SourceKey& key);

/// The property of a file that lists these keys, as JSON, and its parser, which returns nothing for any other text.
inline constexpr const char* kSourceKeys = "source_keys";
std::string source_keys_json(const std::vector<SourceKey>& keys);
std::vector<SourceKey> parse_source_keys(const std::string& json);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_KEYS_H_
