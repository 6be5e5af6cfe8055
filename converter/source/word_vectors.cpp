#include "source/word_vectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/regular_file.h"
#include "source/explain.h"
#include "source/fasttext.h"
#include "source/fields.h"
#include "source/knowledge_ernie.h"
#include "source/model_source.h"
#include "source/safetensors.h"
#include "source/source_path.h"
#include "source/vector_file.h"
#include "text/lexicon.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr const char* kClassifier = "classifier.safetensors";
constexpr uint32_t kMostWordsOfText = 8192;
/// Maximum number of rows for a text in fastText: a word of ten letters has about thirty n-grams.
constexpr uint32_t kMostGramTokens = 65536;

bool is_fasttext(std::string_view start) {
  uint32_t magic = 0;
  if (start.size() < sizeof(magic)) return false;
  std::memcpy(&magic, start.data(), sizeof(magic));
  return magic == kFastTextMagic;
}

VectorFormat format_of(const fs::path& file, std::string_view start) {
  const std::string extension = file.extension().string();
  return vector_format(start, extension == ".vec" || extension == ".txt");
}

/// Returns true if the file may contain vectors or a fastText model.
bool may_hold_vectors(const Directory& files, const std::string& name) {
  const std::string extension = fs::path(name).extension().string();
  if (extension == ".vec" || extension == ".ftz") return true;
  if (extension != ".txt" && extension != ".bin") return false;
  const std::string_view start = files.begin(name);
  return is_fasttext(start) || format_of(name, start) != VectorFormat::kNone;
}

std::vector<std::string> candidates(const Directory& files) {
  std::vector<std::string> found;
  for (const std::string& name : files.names()) {
    if (files.has_file(name) && may_hold_vectors(files, name)) found.push_back(name);
  }
  return found;
}

/// The name of the file with the vectors in a directory.
std::string vectors_of(const Directory& files, const Fields& config, Problems& problems) {
  const std::string named = config.text("vectors", "");
  if (!named.empty()) {
    if (fs::path(named).has_parent_path() || !files.has_file(named)) {
      config.problem(ExitCode::kInvalid, "vectors", fmt::format("\"{}\" is not a file of the directory", named));
    }
    problems.raise();
    return named;
  }
  std::vector<std::string> found = candidates(files);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    fail(ExitCode::kInvalid,
         "{}: holds no word vectors: no .vec, .txt or .bin file of word2vec, GloVe or fastText, and no "
         "model of fastText (.bin, .ftz)",
         files.path("").string());
  }
  fail(ExitCode::kInvalid, "{}: holds several files of vectors ({}); name one by \"vectors\" in config.json",
       files.path("").string(), fmt::join(found, ", "));
}

class DirectoryReader {
 public:
  explicit DirectoryReader(const SourcePath& named)
      : named_(named),
        // A file that was named directly is the whole model.
        files_(named.is_folder() ? named.files : Directory::nothing(named.path)),
        json_(files_->object_or_empty("config.json")),
        config_(json_, files_->path("config.json").string(), problems_) {}

  ModelSource read() {
    const std::string name = named_.is_folder() ? vectors_of(*files_, config_, problems_) : named_.file;
    file_ = named_.is_folder() ? files_->path(name) : named_.path;
    refuse_pointer(file_);
    const std::string_view start = named_.files->begin(name);
    std::ifstream stream(file_, std::ios::binary);
    if (!stream) fail(ExitCode::kIo, "{}: cannot be read; check who may read it", file_.string());
    const uint64_t size = RegularFile(file_).size();
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
    source_.files = files_;
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

  void read_vectors_file(std::string_view start, std::istream& stream, uint64_t size) {
    const VectorFormat format = format_of(file_, start);
    if (format == VectorFormat::kNone) {
      fail(ExitCode::kInvalid,
           "{}: is not a file of word vectors: a line holds a word and at least two numbers, or the file "
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
    if (files_->has(kClassifier)) read_classifier(vectors.width);
    limit(kMostWordsOfText);
    set_words(std::move(list));
  }

  void read_classifier(uint32_t width) {
    const Safetensors file(files_->path(kClassifier));
    for (const auto& [name, tensor] : file.tensors()) {
      if (name == "weight" || name == "bias") continue;
      problems_.add(ExitCode::kInvalid,
                    fmt::format("{}: tensor \"{}\" has no place; a classifier is \"weight\" and \"bias\"",
                                file.path().string(), name));
    }
    const auto weight = file.tensors().find("weight");
    if (weight == file.tensors().end() || weight->second.shape.size() != 2 || weight->second.shape[1] != width) {
      problems_.add(ExitCode::kInvalid,
                    fmt::format("{}: tensor \"weight\" is missing, or is not a matrix of a row of {} columns "
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

  const SourcePath& named_;
  std::shared_ptr<const Directory> files_;
  fs::path file_;
  Problems problems_;
  const Json& json_;
  Fields config_;
  ModelSource source_;
  std::map<std::string, MemoryTensor> tensors_;
};

}  // namespace

// A file that may contain such vectors or a fastText model, without a config.json beside it. Or a directory whose
// config.json says kWordVectors, or one without config.json but with a file that may contain such vectors.
bool is_word_vectors(const SourcePath& named) {
  const Directory& files = *named.files;
  const bool stated = files.has("config.json");
  if (!named.is_folder()) return named.is_file() && !stated && may_hold_vectors(files, named.file);
  if (!stated) return !files.has(kModulesFile) && !files.has(kErnieSettings) && !candidates(files).empty();
  const Json& config = files.object("config.json");
  return config.contains("model_type") && config["model_type"] == kWordVectors;
}

// A model whose config.json says kWordVectors. Its tensor "embeddings" has one row per word (in fastText, also one per
// n-gram). "classifier.weight" and "classifier.bias" come from classifier.safetensors or from fastText's output layer
// (or kLabelTree and kLabelNodes replace them). The tokenizer is a word list. docs/wordvectors.md describes the files
// and settings. Memory: the table as f32.
ModelSource open_word_vectors(const SourcePath& named, const SourceOptions& /*options*/) {
  return DirectoryReader(named).read();
}

}  // namespace bantam::convert
