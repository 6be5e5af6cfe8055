#include "onnx/tflite/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/json_file.h"
#include "base/text_encoding.h"
#include "source/zip.h"

namespace bantam::convert::tflite {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kMaxEntryBytes = uint64_t{64} << 20;
constexpr size_t kMostLines = 1U << 20;
// Special words of MediaPipe's word tokenizer.
constexpr const char *kFillWord = "<PAD>", *kBeginWord = "<START>", *kUnknownWord = "<UNKNOWN>";
constexpr const char* kUsualPattern = "[^\\w']+";

/// Returns true if the bytes end with the end record of an archive.
bool has_archive(std::string_view bytes) {
  constexpr size_t kFarthest = 22 + 0xFFFF;
  const std::string_view tail = bytes.substr(bytes.size() - std::min(bytes.size(), kFarthest));
  return tail.rfind(std::string_view("PK\x05\x06", 4)) != std::string_view::npos;
}

std::vector<std::string> lines_of(const std::string& text, const std::string& name) {
  if (!is_utf8(text)) throw Error(ExitCode::kInvalid, fmt::format("{}: is not UTF-8", name));
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    clean_line(&lines.back(), lines.size() == 1);
    at = end + 1;
    if (lines.size() > kMostLines) {
      throw Error(ExitCode::kUnsupported, fmt::format("{}: has more than {} lines", name, kMostLines));
    }
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// Files in the directory, which take precedence over those in the archive.
class Files {
 public:
  Files(const Directory& beside, const fs::path& path, std::string_view bytes) : beside_(beside), path_(path) {
    if (has_archive(bytes)) zip_.emplace(path);
  }

  /// The first of `names` that exists.
  std::optional<std::string> read(const std::vector<std::string>& names, std::string* found) const {
    for (const std::string& name : names) {
      // The names are untrusted: only plain file names are allowed.
      const bool plain = !name.empty() && fs::path(name).filename() == name;
      if (!plain || !beside_.has(name)) continue;
      *found = beside_.path(name).string();
      return beside_.text(name, kMaxEntryBytes);
    }
    for (const std::string& name : names) {
      if (!zip_ || name.empty() || zip_->entries().count(name) == 0) continue;
      *found = fmt::format("{}: \"{}\"", path_.string(), name);
      if (zip_->entries().at(name).size > kMaxEntryBytes) {
        throw Error(ExitCode::kUnsupported, fmt::format("{}: has more than {} bytes", *found, kMaxEntryBytes));
      }
      return zip_->read(name);
    }
    return std::nullopt;
  }

 private:
  const Directory& beside_;
  fs::path path_;
  std::optional<ZipFile> zip_;
};

bool has_tokenizer(const TokenizerFiles& files) {
  return files.json.is_object() || files.merges || files.pieces || files.words || !files.unreadable.empty();
}

}  // namespace

Json word_tokenizer(const std::string& list, const std::string& pattern, const std::string& name) {
  const std::vector<std::string> lines = lines_of(list, name);
  if (lines.empty()) return nullptr;
  Json vocabulary = Json::object();
  std::set<int64_t> ids;
  bool numbered = true;
  for (const std::string& line : lines) {
    const size_t blank = line.rfind(' ');
    int64_t id = -1;
    const char* end = line.data() + line.size();
    if (blank != std::string::npos && blank != 0) {
      const auto parsed = std::from_chars(line.data() + blank + 1, end, id);
      if (parsed.ec != std::errc() || parsed.ptr != end) id = -1;
    }
    numbered = numbered && id >= 0 && id < static_cast<int64_t>(lines.size()) && ids.insert(id).second;
    if (!numbered) break;
    vocabulary[line.substr(0, blank)] = id;
  }
  if (!numbered && pattern.empty()) return nullptr;
  if (!numbered) {
    vocabulary = Json::object();
    for (size_t i = 0; i < lines.size(); ++i) vocabulary.emplace(lines[i], i);
  }
  bool capitals = false;
  for (const auto& entry : vocabulary.items()) {
    const std::string& word = entry.key();
    const bool special = !word.empty() && word.front() == '<';
    const auto capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    capitals = capitals || (!special && std::any_of(word.begin(), word.end(), capital));
  }
  Json json;
  json["version"] = "1.0";
  json["truncation"] = json["padding"] = nullptr;
  json["added_tokens"] = Json::array();
  // If the list has no capitals, the model was trained with lower-case texts.
  json["normalizer"] = capitals ? Json(nullptr) : Json{{"type", "Lowercase"}};
  json["pre_tokenizer"] = {{"type", "Split"},
                           {"pattern", {{"Regex", pattern.empty() ? kUsualPattern : pattern}}},
                           {"behavior", "Removed"},
                           {"invert", false}};
  json["decoder"] = nullptr;
  json["model"] = {{"type", "WordLevel"}, {"vocab", vocabulary}};
  if (vocabulary.contains(kUnknownWord)) json["model"]["unk_token"] = kUnknownWord;
  Json single = Json::array(), special = Json::object();
  if (vocabulary.contains(kBeginWord)) {
    single.push_back({{"SpecialToken", {{"id", kBeginWord}, {"type_id", 0}}}});
    special[kBeginWord] = {{"id", kBeginWord}, {"ids", {vocabulary[kBeginWord]}}, {"tokens", {kBeginWord}}};
  }
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  Json pair = single;
  pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 0}}}});
  json["post_processor"] = {
      {"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special}};
  return json;
}

void add_files(const fs::path& path, std::string_view bytes, const Metadata& metadata, ModelSource& source) {
  const Files files(*source.files, path, bytes);
  std::string name;
  if (!source.config.contains("id2label")) {
    if (const auto labels = files.read({metadata.labels, "labels.txt", "labelmap.txt"}, &name)) {
      const std::vector<std::string> lines = lines_of(*labels, name);
      if (!lines.empty()) source.config["id2label"] = lines;
    }
  }
  TokenizerFiles& tokenizer = source.tokenizer;
  if (has_tokenizer(tokenizer)) return;
  if (!metadata.pieces.empty()) {
    if (auto pieces = files.read({metadata.pieces}, &name)) {
      tokenizer.pieces = SentencePieceFile{metadata.pieces, *std::move(pieces), ""};
      return;
    }
  }
  auto vocabulary = files.read({metadata.vocabulary, "vocab.txt", "vocab"}, &name);
  if (!vocabulary) return;
  tokenizer.json = word_tokenizer(*vocabulary, metadata.pattern, name);
  if (tokenizer.json.is_null()) {
    tokenizer.vocab = std::move(vocabulary);
    return;
  }
  tokenizer.vocab.reset();
  tokenizer.json_name = name;
  if (!tokenizer.config.is_object()) tokenizer.config = Json::object();
  if (tokenizer.json["model"]["vocab"].contains(kFillWord)) tokenizer.config.emplace("pad_token", kFillWord);
}

}  // namespace bantam::convert::tflite
