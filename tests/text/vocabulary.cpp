#include "tests/text/vocabulary.h"

#include <unistd.h>

#include <fstream>

namespace bantam::tests {

Folder::Folder() {
  std::string path = (std::filesystem::temp_directory_path() / "bantam_text_XXXXXX").string();
  if (mkdtemp(path.data()) != nullptr) path_ = path;
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

void Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
}

Imported import_folder(const Folder& folder) {
  Imported result;
  result.found = convert::import_tokenizer(folder.path(), result.graph, result.problems);
  return result;
}

std::string vocabulary_text(const std::vector<std::string>& tokens) {
  std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (const std::string& token : tokens) text += token + "\n";
  return text;
}

nlohmann::json tokenizer_json(const std::vector<std::string>& tokens) {
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

SmallTokenizer::SmallTokenizer(const std::vector<std::string>& tokens) : SmallTokenizer(tokenizer_json(tokens)) {}

SmallTokenizer::SmallTokenizer(const nlohmann::json& json) {
  Folder folder;
  folder.write("tokenizer.json", json.dump());
  imported_ = import_folder(folder);
  if (imported_.found) image_ = std::make_unique<TokenizerImage>(imported_.graph);
}

}  // namespace bantam::tests
