#include "source/word_vectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/is_there.h"
#include "source/explain.h"
#include "source/fasttext.h"
#include "source/fields.h"
#include "source/safetensors.h"
#include "source/vector_file.h"
#include "text/lexicon.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr const char* kClassifier = "classifier.safetensors";
constexpr size_t kStart = 4096;  // bytes that tell what a file is
constexpr uint32_t kMostWordsOfText = 8192;
/// Rows of a text of fastText's: a word of ten letters has some thirty n-grams.
constexpr uint32_t kMostGramTokens = 65536;

std::string start_of(const fs::path& file) {
  std::string start(kStart, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return start;
}

bool is_fasttext(const std::string& start) {
  uint32_t magic = 0;
  if (start.size() < sizeof(magic)) return false;
  std::memcpy(&magic, start.data(), sizeof(magic));
  return magic == kFastTextMagic;
}

VectorFormat format_of(const fs::path& file, const std::string& start) {
  const std::string extension = file.extension().string();
  return vector_format(start, extension == ".vec" || extension == ".txt");
}

/// Whether vectors or a model of fastText may be in the file.
bool may_hold_vectors(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".vec" || extension == ".ftz") return true;
  if (extension != ".txt" && extension != ".bin") return false;
  const std::string start = start_of(file);
  return is_fasttext(start) || format_of(file, start) != VectorFormat::kNone;
}

std::vector<fs::path> candidates(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (fs::is_regular_file(it->path(), error) && may_hold_vectors(it->path())) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path vectors_of(const fs::path& directory, const Fields& config, Problems& problems) {
  if (fs::is_regular_file(directory)) return directory;  // named by itself
  const std::string named = config.text("vectors", "");
  if (!named.empty()) {
    if (fs::path(named).has_parent_path() || !is_there(directory / named)) {
      config.problem(ExitCode::kInvalid, "vectors", fmt::format("\"{}\" is no file of the directory", named));
    }
    problems.raise();
    return directory / named;
  }
  const std::vector<fs::path> found = candidates(directory);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    fail(ExitCode::kInvalid,
         "{}: holds no word vectors: no .vec, .txt or .bin file of word2vec, GloVe or fastText, and no "
         "model of fastText (.bin, .ftz)",
         directory.string());
  }
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const fs::path& file : found) names.push_back(file.filename().string());
  fail(ExitCode::kInvalid, "{}: holds several files of vectors ({}); name one by \"vectors\" in config.json",
       directory.string(), fmt::join(names, ", "));
}

class DirectoryReader {
 public:
  explicit DirectoryReader(const fs::path& directory)
      : directory_(directory),
        json_(is_there(directory / "config.json") ? read_json_object(directory / "config.json") : Json::object()),
        config_(json_, (directory / "config.json").string(), problems_) {}

  ModelSource read() {
    file_ = vectors_of(directory_, config_, problems_);
    refuse_pointer(file_);
    const std::string start = start_of(file_);
    std::ifstream stream(file_, std::ios::binary);
    if (!stream) fail(ExitCode::kIo, "{}: cannot be read; check who may read it", file_.string());
    const uint64_t size = fs::file_size(file_);
    source_.config = json_;
    source_.config["model_type"] = kWordVectors;
    is_fasttext(start) || file_.extension() == ".ftz" ? read_model(stream, size)
                                                      : read_vectors_file(start, stream, size);
    problems_.raise();
    const std::vector<uint64_t>& shape = tensors_.at("embeddings").shape;
    source_.config["vocab_size"] = shape[0];
    source_.config["hidden_size"] = shape[1];
    source_.config["classifier_pooling"] = "mean";
    const bool classifies = tensors_.count("classifier.weight") != 0 || tensors_.count(kLabelTree) != 0;
    source_.config["architectures"] = {classifies ? "WordVectorsForSequenceClassification" : "WordVectorsModel"};
    source_.root = source_.directory = directory_;
    source_.checkpoint = std::make_shared<const Checkpoint>(std::move(tensors_));
    source_.weight_files.push_back(file_);
    return std::move(source_);
  }

 private:
  void limit(uint32_t usual) {
    if (!json_.contains("max_length")) source_.config["max_length"] = usual;
  }

  void set_words(WordList list) {
    list.name = file_.filename().string();
    source_.tokenizer.words = std::make_shared<const WordList>(std::move(list));
  }

  void read_vectors_file(const std::string& start, std::istream& stream, uint64_t size) {
    const VectorFormat format = format_of(file_, start);
    if (format == VectorFormat::kNone) {
      fail(ExitCode::kInvalid,
           "{}: is no file of word vectors: a line holds a word and at least two numbers, or the file "
           "begins with a line \"rows columns\"",
           file_.string());
    }
    WordList list;
    const std::string split = config_.text("split", "words");
    if (split != "words" && split != "white-space") {
      config_.problem(ExitCode::kUnsupported, "split",
                      fmt::format("\"{}\" is not supported; \"words\" and \"white-space\" are", split));
    }
    list.white_space = split == "white-space";
    const uint32_t most = config_.count("max_words", text::kMaxVocabulary, 0);
    problems_.raise();
    WordVectors vectors = read_vectors(stream, size, format, file_.string(), most);
    const auto has_capitals = [](const std::string& word) {
      return std::any_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    };
    const bool capitals = std::any_of(vectors.words.begin(), vectors.words.end(), has_capitals);
    list.lowercase = config_.flag("lowercase", !capitals);
    list.words = std::move(vectors.words);
    tensors_["embeddings"] = {{list.words.size(), vectors.width}, std::move(vectors.values)};
    if (is_there(directory_ / kClassifier)) read_classifier(vectors.width);
    limit(kMostWordsOfText);
    set_words(std::move(list));
  }

  void read_classifier(uint32_t width) {
    const Safetensors file(directory_ / kClassifier);
    for (const auto& [name, tensor] : file.tensors()) {
      if (name == "weight" || name == "bias") continue;
      problems_.add(ExitCode::kInvalid,
                    fmt::format("{}: tensor \"{}\" has no place; a classifier is \"weight\" and \"bias\"",
                                file.path().string(), name));
    }
    const auto weight = file.tensors().find("weight");
    if (weight == file.tensors().end() || weight->second.shape.size() != 2 || weight->second.shape[1] != width) {
      problems_.add(ExitCode::kInvalid,
                    fmt::format("{}: tensor \"weight\" is missing, or is no matrix of a row of {} columns "
                                "a label",
                                file.path().string(), width));
      return;
    }
    tensors_["classifier.weight"] = {weight->second.shape, read_floats(file, "weight")};
    const auto bias = file.tensors().find("bias");
    if (bias != file.tensors().end()) tensors_["classifier.bias"] = {bias->second.shape, read_floats(file, "bias")};
    source_.weight_files.push_back(file.path());
  }

  void read_model(std::istream& stream, uint64_t size) {
    for (const char* key : {"split", "lowercase", "max_words"}) {
      if (config_.has(key))
        config_.problem(ExitCode::kInvalid, key, "a model of fastText splits texts its own way; remove it");
    }
    FastTextModel model = read_fasttext(stream, size, file_.string());
    WordList list;
    list.hashed = true;
    list.words = std::move(model.words);
    list.model.buckets = model.buckets;
    list.model.min_gram = model.min_gram;
    list.model.max_gram = model.max_gram;
    list.model.word_grams = model.word_grams;
    list.model.end_word = "</s>";
    list.model.skip_prefix = "__label__";
    list.all_grams = model.all_grams;
    list.grams = std::move(model.grams);
    tensors_["embeddings"] = std::move(model.table);
    Json labels = Json::object();
    for (size_t i = 0; i < model.labels.size(); ++i) labels[std::to_string(i)] = model.labels[i];
    if (!json_.contains("id2label")) source_.config["id2label"] = std::move(labels);
    const bool each = model.loss == FastTextLoss::kNegative || model.loss == FastTextLoss::kOneVsAll;
    source_.config["problem_type"] = each ? "multi_label_classification" : "single_label_classification";
    if (model.loss == FastTextLoss::kHierarchical && model.labels.size() > 1) {
      const std::vector<int32_t> nodes = fasttext_tree(model.label_counts);
      const uint64_t inner = nodes.size() / 2;
      tensors_[kLabelNodes] = {{inner, 2}, std::vector<float>(nodes.begin(), nodes.end())};
      model.output.values.resize(model.output.values.size() - model.width);
      model.output.shape[0] = inner;
      tensors_[kLabelTree] = std::move(model.output);
    } else {
      tensors_["classifier.weight"] = std::move(model.output);
    }
    limit(kMostGramTokens);
    set_words(std::move(list));
  }

  fs::path directory_, file_;
  Problems problems_;
  Json json_;
  Fields config_;
  ModelSource source_;
  std::map<std::string, MemoryTensor> tensors_;
};

}  // namespace

bool is_word_vectors_file(const fs::path& named) {
  std::error_code error;
  return fs::is_regular_file(named, error) && !is_there(named.parent_path() / "config.json") && may_hold_vectors(named);
}

bool is_word_vectors(const fs::path& named) {
  if (is_word_vectors_file(named)) return true;
  if (!is_there(named / "config.json")) {
    return !is_there(named / "modules.json") && !is_there(named / "ernie_config.json") && !candidates(named).empty();
  }
  const Json config = read_json_object(named / "config.json");
  return config.contains("model_type") && config["model_type"] == kWordVectors;
}

ModelSource open_word_vectors(const fs::path& named) { return DirectoryReader(named).read(); }

}  // namespace bantam::convert
