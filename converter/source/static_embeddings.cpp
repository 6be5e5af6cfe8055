// Directories of static embeddings: a table with one row per token, as saved by model2vec and sentence-transformers
// (StaticEmbedding).
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "source/model_source.h"
#include "source/safetensors.h"
#include "source/source_path.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr const char* kTable = "embeddings";              // model2vec's name
constexpr const char* kModuleTable = "embedding.weight";  // sentence-transformers'
constexpr uint64_t kMostValues = uint64_t{1} << 32;       // of the table in memory
constexpr uint32_t kModel2vecTokens = 512;                // model2vec's text limit if config.json does not state one
constexpr uint32_t kModuleTokens = 8192;                  // sentence-transformers has no limit

/// Numbers of any type as double: scales, and row indices.
template <typename T>
std::vector<double> numbers_as(const std::string& bytes) {
  std::vector<double> out(bytes.size() / sizeof(T));
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
  return out;
}

class StoredTable {
 public:
  StoredTable(const Directory& files, const std::string& folder)
      : checkpoint_(files, folder), where_(files.path(folder).string()) {
    const auto& tensors = checkpoint_.tensors();
    name_ = tensors.count(kModuleTable) != 0 ? kModuleTable : kTable;
    if (tensors.count(name_) == 0) {
      fail(fmt::format("holds no table \"{}\" or \"{}\"; is it a directory of static embeddings?", kTable,
                       kModuleTable));
    }
    const std::vector<uint64_t>& shape = stored(name_).shape;
    if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0) {
      fail(fmt::format("tensor \"{}\": is not a matrix of a row a token", name_));
    }
    rows_ = shape[0];
    width_ = shape[1];
    tokens_ = tensors.count("mapping") != 0 ? stored("mapping").elements : rows_;
    if (tokens_ == 0 || tokens_ > kMostValues / width_) {
      fail(fmt::format("{} rows of {} values are none, or more than this version takes", tokens_, width_));
    }
  }

  bool is_model2vec() const { return name_ == kTable; }
  uint64_t tokens() const { return tokens_; }
  uint64_t width() const { return width_; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> files;
    for (const auto& file : checkpoint_.files()) files.push_back(file->path());
    return files;
  }

  /// Reads one row per token; row `dropped` (below 0: none) is zero.
  MemoryTensor read(int64_t dropped) const {
    MemoryTensor out{{tokens_, width_}, {}};
    const std::vector<float> table = floats(name_);
    const bool maps = checkpoint_.tensors().count("mapping") != 0;
    const bool weighs = checkpoint_.tensors().count("weights") != 0;
    const std::vector<double> mapping = maps ? numbers("mapping") : std::vector<double>();
    const std::vector<double> weights = weighs ? numbers("weights") : std::vector<double>();
    if (weighs && weights.size() != tokens_) {
      fail(fmt::format("tensor \"weights\": holds {} numbers, of {} tokens", weights.size(), tokens_));
    }
    out.values.reserve(static_cast<size_t>(tokens_ * width_));
    for (size_t token = 0; token < tokens_; ++token) {
      const double row = maps ? mapping[token] : static_cast<double>(token);
      if (!(row >= 0 && row < static_cast<double>(rows_))) {
        fail(fmt::format("tensor \"mapping\": token {} has row {} of a table of {}", token, row, rows_));
      }
      const float weight = static_cast<int64_t>(token) == dropped ? 0.0F
                           : weighs                               ? static_cast<float>(weights[token])
                                                                  : 1.0F;
      if (!std::isfinite(weight)) fail(fmt::format("tensor \"weights\": token {} has no finite weight", token));
      const float* from = table.data() + static_cast<size_t>(row) * static_cast<size_t>(width_);
      for (size_t i = 0; i < width_; ++i) out.values.push_back(from[i] * weight);
    }
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::kInvalid, fmt::format("{}: {}", where_, what));
  }
  const StoredTensor& stored(const std::string& name) const { return *checkpoint_.tensors().at(name).stored; }

  std::vector<double> numbers(const std::string& name) const {
    const Checkpoint::Entry& entry = checkpoint_.tensors().at(name);
    const std::string& type = entry.stored->dtype;
    if (type == "F32" || type == "F16" || type == "BF16") {
      const std::vector<float> values = checkpoint_.read(name);
      return {values.begin(), values.end()};
    }
    const std::string bytes = checkpoint_.files()[entry.file]->read_bytes(name);
    if (type == "F64") return numbers_as<double>(bytes);
    if (type == "I64") return numbers_as<int64_t>(bytes);
    if (type == "I32") return numbers_as<int32_t>(bytes);
    if (type == "I16") return numbers_as<int16_t>(bytes);
    if (type == "U16") return numbers_as<uint16_t>(bytes);
    if (type == "U32") return numbers_as<uint32_t>(bytes);
    fail(fmt::format("tensor \"{}\": is of type {}, which is not supported here", name, type));
  }

  /// Vectors are stored as floats, or as integers from -127 to 127 that are used unscaled.
  std::vector<float> floats(const std::string& name) const {
    if (stored(name).dtype != "I8") return checkpoint_.read(name);
    const std::string bytes = checkpoint_.files()[checkpoint_.tensors().at(name).file]->read_bytes(name);
    std::vector<float> out;
    out.reserve(bytes.size());
    for (const char byte : bytes) out.push_back(static_cast<float>(static_cast<int8_t>(byte)));
    return out;
  }

  Checkpoint checkpoint_;
  std::string where_, name_;
  uint64_t rows_ = 0, width_ = 0, tokens_ = 0;
};

/// The id of tokenizer.json's token for unknown words; -1: none.
int64_t unknown_token(const Json& tokenizer) {
  if (!tokenizer.is_object() || !tokenizer.contains("model") || !tokenizer["model"].is_object()) return -1;
  const Json& model = tokenizer["model"];
  if (model.contains("unk_id") && model["unk_id"].is_number_unsigned()) return model["unk_id"].get<int64_t>();
  if (!model.contains("unk_token") || !model["unk_token"].is_string()) return -1;
  const auto name = model["unk_token"].get<std::string>();
  if (model.contains("vocab") && model["vocab"].is_object() && model["vocab"].contains(name)) {
    const Json& id = model["vocab"][name];
    if (id.is_number_unsigned()) return id.get<int64_t>();
  }
  return -1;
}

bool says(const Json& config, const char* key, const char* value) {
  return config.contains(key) && config[key].is_string() && config[key].get_ref<const std::string&>() == value;
}

}  // namespace

// A directory whose modules.json begins with a StaticEmbedding module; without modules.json, one whose config.json is
// model2vec's, or names no model_type while model.safetensors contains "embeddings".
bool is_static_embeddings(const SourcePath& named) {
  const Directory& files = *named.files;
  if (!named.is_folder()) return false;
  if (files.has(kModulesFile)) return read_sentence_modules(files).begin_static();
  if (!files.has("config.json")) return false;
  const Json& config = files.object("config.json");
  if (says(config, "model_type", "model2vec")) return true;
  constexpr const char* kTableFile = "model.safetensors";
  return !config.contains("model_type") && files.has(kTableFile) &&
         Safetensors(files.path(kTableFile)).tensors().count(kTable) != 0;
}

// A model whose config.json says "model2vec", and whose only tensor "embeddings" has a row for each token id: row
// `mapping`[id] of the stored table times `weights`[id], if these exist. In model2vec's own directories, the row of the
// unknown token is zero, because that library ignores this token. Memory: the table as f32.
ModelSource open_static_embeddings(const SourcePath& named, const SourceOptions& /*options*/) {
  ModelSource source;
  source.files = named.files;
  source.modules = read_sentence_modules(*named.files);
  source.inside = transformer_folder(*named.files, source.modules);
  const StoredTable table(*named.files, source.inside);
  const Json& stated = named.files->object_or_empty(source.name_inside("config.json"));
  source.tokenizer = read_tokenizer_files(*named.files, source.inside);
  source.config = {{"model_type", "model2vec"}, {"architectures", {"StaticModel"}}};
  source.config["vocab_size"] = table.tokens();
  source.config["hidden_dim"] = table.width();
  source.config["max_length"] = table.is_model2vec() ? kModel2vecTokens : kModuleTokens;
  if (stated.contains("max_length")) {
    source.config["max_length"] = stated["max_length"].is_null() ? Json(kModuleTokens) : stated["max_length"];
  }
  if (stated.contains("normalize")) source.config["normalize"] = stated["normalize"];
  const int64_t unknown = table.is_model2vec() ? unknown_token(source.tokenizer.json) : -1;
  std::map<std::string, MemoryTensor> tensors;
  tensors[kTable] = table.read(unknown);
  source.checkpoint = std::make_shared<const Checkpoint>(std::move(tensors));
  source.weight_files = table.files();
  return source;
}

}  // namespace bantam::convert
