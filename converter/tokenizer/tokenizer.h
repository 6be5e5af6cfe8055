// Import of a Hugging Face directory's tokenizer.
#ifndef BANTAM_CONVERTER_TOKENIZER_TOKENIZER_H_
#define BANTAM_CONVERTER_TOKENIZER_TOKENIZER_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/directory.h"
#include "base/json_file.h"
#include "graph/graph.h"
#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {

/// The files of a tokenizer; null or empty if the directory does not have them.
struct TokenizerFiles {
  Json json;                                 // tokenizer.json
  std::string json_name = "tokenizer.json";  // name in problems
  Json source_json;                          // likewise for texts of an encoder, if it has another tokenizer
  std::string source_json_name;              //
  std::optional<std::string> vocab;          // vocab.txt; not read if there is a tokenizer.json
  Json letters;                              // vocab.json, with merges.txt; likewise
  std::optional<std::string> merges;         //
  std::string model_type;                    // from config.json if there is a merges.txt, else ""
  /// spiece.model or similar; likewise. Marian: target.spm.
  std::optional<SentencePieceFile> pieces;
  /// source.spm, for texts of an encoder; Marian only.
  std::optional<SentencePieceFile> source;
  std::shared_ptr<const WordList> words;  // of word vectors; if it is set, no other file is read
  Json config;                            // tokenizer_config.json
  Json special;                           // special_tokens_map.json
  Json added;                             // added_tokens.json
  std::string tokenizer_class;            // the class whose settings apply if there is a tokenizer_config.json
  bool names_tokens = false;              // these files name tokens to add, as transformers reads them
  std::string chat;                       // chat_template.jinja
  std::vector<std::string> others;        // names of files that belong to other kinds of tokenizers
  std::vector<std::string> unreadable;    // what is wrong with the files, one line each
  size_t unsupported = 0;                 // number of these that are about valid but unsupported content
};
/// The files that are read for the tokenizer in a folder of `files`, if they exist.
constexpr const char* kTokenizerFiles[] = {"tokenizer.json",
                                           "tokenizer_config.json",
                                           "special_tokens_map.json",
                                           "added_tokens.json",
                                           "vocab.txt",
                                           "vocab.json",
                                           "merges.txt",
                                           "spiece.model",
                                           "spm.model",
                                           "sentencepiece.bpe.model",
                                           "tokenizer.model",
                                           "source.spm",
                                           "target.spm",
                                           "target_vocab.json"};
TokenizerFiles read_tokenizer_files(const Directory& files, const std::string& folder = "");

/// Returns tokenizer_config.json with the values that transformers adds to it if it has no added_tokens_decoder: the
/// names in special_tokens_map.json, and added_tokens.json as that decoder.
Json complete_config(const TokenizerFiles& files);

/// Advice for an unsupported tokenizer, as the end of a message.
extern const char* const kWithoutTokenizer;

/// Reads tokenizer.json, else vocab.txt, else vocab.json and merges.txt, else a SentencePiece model, with
/// tokenizer_config.json and special_tokens_map.json beside them, and adds one fb::TokenizerT with its tables to
/// `graph`. For Marian's files it adds two, for texts of the target and of the source (Model.source_tokenizer). Adds
/// information for the user to graph.notes. Returns false and adds nothing if the directory has no tokenizer, or after
/// problems: then each adds a line to `problems` that names the file, the field and what to do, and `unsupported` (if
/// given) tells whether all of them are about valid content that this version does not support. Never throws because of
/// the files' contents. `lowercase`: texts are converted to lower case first, whatever the files say, as
/// sentence-transformers' do_lower_case does.
bool import_tokenizer(const TokenizerFiles& files, Graph& graph, std::vector<std::string>& problems,
                      bool* unsupported = nullptr, bool lowercase = false);
bool import_tokenizer(const std::filesystem::path& dir, Graph& graph, std::vector<std::string>& problems,
                      bool* unsupported = nullptr);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_TOKENIZER_H_
