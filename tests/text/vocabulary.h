// Small tokenizers for tests, imported from files that the test writes.
#ifndef BANTAM_TESTS_TEXT_VOCABULARY_H_
#define BANTAM_TESTS_TEXT_VOCABULARY_H_

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/text/fixture.h"

namespace bantam::tests {

/// A folder that disappears with the object.
class Folder {
 public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "bantam_text_XXXXXX").string();
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Imported {
  bool found = false;
  convert::Graph graph;
  std::vector<std::string> problems;
};

inline Imported import_folder(const Folder& folder) {
  Imported result;
  result.found = convert::import_tokenizer(folder.path(), result.graph, result.problems);
  return result;
}

/// Tokens one a line, as vocab.txt; the special tokens come first, with ids 0 to 4.
inline std::string vocabulary_text(const std::vector<std::string>& tokens) {
  std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (const std::string& token : tokens) text += token + "\n";
  return text;
}

/// An importable uncased tokenizer.json with these tokens from id 5 on.
inline nlohmann::json tokenizer_json(const std::vector<std::string>& tokens) {
  nlohmann::json vocabulary = {{"[PAD]", 0}, {"[UNK]", 1}, {"[CLS]", 2}, {"[SEP]", 3}, {"[MASK]", 4}};
  for (size_t i = 0; i < tokens.size(); ++i) vocabulary[tokens[i]] = i + 5;
  nlohmann::json json;
  json["model"] = {{"type", "WordPiece"},
                   {"unk_token", "[UNK]"},
                   {"continuing_subword_prefix", "##"},
                   {"max_input_chars_per_word", 100},
                   {"vocab", vocabulary}};
  json["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", true},
                        {"handle_chinese_chars", true},
                        {"strip_accents", nullptr},
                        {"lowercase", true}};
  json["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  json["post_processor"] = {{"type", "BertProcessing"}, {"cls", {"[CLS]", 2}}, {"sep", {"[SEP]", 3}}};
  json["added_tokens"] = nlohmann::json::array();
  for (const auto& [text, id] : vocabulary.items()) {
    if (id.get<int>() < 5) {
      json["added_tokens"].push_back({{"id", id}, {"content", text}, {"special", true}, {"normalized", false}});
    }
  }
  return json;
}

/// A tokenizer over `tokens`, uncased, ready to encode.
class SmallTokenizer {
 public:
  explicit SmallTokenizer(const std::vector<std::string>& tokens) : SmallTokenizer(tokenizer_json(tokens)) {}
  explicit SmallTokenizer(const nlohmann::json& json) {
    Folder folder;
    folder.write("tokenizer.json", json.dump());
    imported_ = import_folder(folder);
    if (imported_.found) image_ = std::make_unique<TokenizerImage>(imported_.graph);
  }

  bool ok() const { return image_ != nullptr; }
  TokenizerImage& image() { return *image_; }
  fb::TokenizerT& description() { return *imported_.graph.model.tokenizers.front(); }
  Tokenizer open() { return image_->open(); }

 private:
  Imported imported_;
  std::unique_ptr<TokenizerImage> image_;
};

}  // namespace bantam::tests

#endif  // BANTAM_TESTS_TEXT_VOCABULARY_H_
