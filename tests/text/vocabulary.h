// Small tokenizers for tests, imported from files that the test writes.
#ifndef BANTAM_TESTS_TEXT_VOCABULARY_H_
#define BANTAM_TESTS_TEXT_VOCABULARY_H_

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/text/fixture.h"

namespace bantam::tests {

/// A folder that is removed with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Imported {
  bool found = false;
  convert::Graph graph;
  std::vector<std::string> problems;
};

Imported import_folder(const Folder& folder);

/// Returns one token per line, as in vocab.txt; the special tokens come first, with ids 0 to 4.
std::string vocabulary_text(const std::vector<std::string>& tokens);

/// Returns an importable uncased tokenizer.json with these tokens from id 5 on.
nlohmann::json tokenizer_json(const std::vector<std::string>& tokens);

/// An uncased tokenizer over `tokens`, ready to encode.
class SmallTokenizer {
 public:
  explicit SmallTokenizer(const std::vector<std::string>& tokens);
  explicit SmallTokenizer(const nlohmann::json& json);

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
