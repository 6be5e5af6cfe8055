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

/// The files of a tokenizer; null or nothing: the directory has none.
struct TokenizerFiles {
  Json json;                                 // tokenizer.json
  std::string json_name = "tokenizer.json";  // what problems call it
  Json source_json;                   // the same that texts for an encoder are read by, where they are read by another
  std::string source_json_name;       //
  std::optional<std::string> vocab;   // vocab.txt; not read where there is a tokenizer.json
  Json letters;                       // vocab.json, and merges.txt; likewise
  std::optional<std::string> merges;  //
  std::string model_type;             // of config.json, where there is merges.txt, or nothing
  std::optional<SentencePieceFile> pieces;  // spiece.model or its like; likewise. Marian: target.spm
  std::optional<SentencePieceFile> source;  // source.spm, which texts for an encoder are read by; the others have none
  std::shared_ptr<const WordList> words;    // of word vectors; nothing else is read then
  Json config;                              // tokenizer_config.json
  Json special;                             // special_tokens_map.json
  Json added;                               // added_tokens.json
  std::string tokenizer_class;              // whose settings count where tokenizer_config.json is there
  bool names_tokens = false;                // these files name tokens to add, as transformers reads them
  std::string chat;                         // chat_template.jinja
  std::vector<std::string> others;          // names of files that belong to tokenizers of other kinds
  std::vector<std::string> unreadable;      // what was wrong with the files, a line each
  size_t unsupported = 0;                   // of these, those about what is well formed and not executed
};
/// The files in a folder of `files` that are read for its tokenizer, if they are there.
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

/// tokenizer_config.json with what transformers reads into it where it has no added_tokens_decoder: special_tokens_map.json's
/// names, and added_tokens.json as that decoder.
Json complete_config(const TokenizerFiles& files);

/// Advice for a tokenizer that is not executed, as the end of a message.
extern const char* const kWithoutTokenizer;

/// Reads tokenizer.json, else vocab.txt, else vocab.json and merges.txt, else a SentencePiece model, with tokenizer_config.json and
/// special_tokens_map.json beside them, and adds one fb::TokenizerT with its tables to `graph`; of Marian's files two, of the target's texts
/// and of the source's (Model.source_tokenizer). What the user should know goes to
/// graph.notes. False, and nothing added, when the directory holds no tokenizer, or when there were
/// problems: then `problems` grew by one line for each, naming file, field and what to do; `unsupported` (if
/// given) says whether all of them are about something well formed that this version does not execute. Never
/// throws for anything that the files contain. `lowercase`: texts are made lower case first, whatever the files say, as
/// sentence-transformers' do_lower_case does.
bool import_tokenizer(const TokenizerFiles& files, Graph& graph, std::vector<std::string>& problems,
                      bool* unsupported = nullptr, bool lowercase = false);
bool import_tokenizer(const std::filesystem::path& dir, Graph& graph, std::vector<std::string>& problems,
                      bool* unsupported = nullptr);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_TOKENIZER_H_
