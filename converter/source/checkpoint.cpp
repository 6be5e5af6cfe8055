#include "source/checkpoint.h"

#include <fmt/format.h>

#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/json_file.h"
#include "base/size.h"
#include "source/explain.h"
#include "source/safetensors.h"
#include "source/torch_file.h"

namespace bantam::convert {
namespace fs = std::filesystem;

namespace {

/// Rows of a tensor in a file.
class StoredRows : public RowSource {
 public:
  StoredRows(std::shared_ptr<const WeightFile> file, std::string name, size_t columns)
      : file_(std::move(file)), name_(std::move(name)), columns_(columns) {}
  size_t rows() const override { return static_cast<size_t>(file_->tensors().at(name_).elements / columns_); }
  size_t columns() const override { return columns_; }
  void read(size_t first, size_t count, float* out) const override {
    file_->read_values(name_, uint64_t{first} * columns_, count * columns_, out);
  }

 private:
  std::shared_ptr<const WeightFile> file_;
  std::string name_;
  size_t columns_;
};

std::unique_ptr<WeightFile> open_file(const fs::path& path) {
  refuse_pointer(path);
  if (path.extension() == ".safetensors") return std::make_unique<Safetensors>(path);
  return std::make_unique<TorchFile>(path);
}

}  // namespace

Checkpoint::Checkpoint(const Directory& files, const std::string& folder) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    const std::string single = name_in(folder, name), index = single + ".index.json";
    if (files.has(single)) {
      files_.push_back(open_file(files.path(single)));
    } else if (files.has(index)) {
      open_shards(files, folder, index);
    }
    if (!files_.empty()) break;
  }
  if (files_.empty()) {
    throw Error(
        ExitCode::kInvalid,
        fmt::format("{}: holds neither model.safetensors nor pytorch_model.bin, nor an index of their shards; {}",
                    files.path(folder).string(), other_weights(files, folder)));
  }
  index_files();
}

Checkpoint::Checkpoint(std::unique_ptr<WeightFile> file) {
  files_.push_back(std::move(file));
  index_files();
}

void Checkpoint::index_files() {
  for (size_t i = 0; i < files_.size(); ++i) {
    for (const auto& [name, stored] : files_[i]->tensors()) {
      const auto [place, added] = tensors_.emplace(name, Entry{i, &stored});
      if (!added) {
        throw Error(ExitCode::kInvalid,
                    fmt::format("tensor \"{}\" is in two files: {} and {}", name,
                                files_[place->second.file]->path().string(), files_[i]->path().string()));
      }
    }
  }
}

void Checkpoint::open_shards(const Directory& files, const std::string& folder, const std::string& index_name) {
  const Json& json = files.object(index_name);
  const fs::path index = files.path(index_name);
  if (!json.contains("weight_map") || !json["weight_map"].is_object() || json["weight_map"].empty()) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: has no weight_map", index.string()));
  }
  Problems problems;
  std::set<std::string> names;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    // A shard must be beside its index; anything else would read files that the user did not name.
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || fs::path(name).filename() != fs::path(name) || name == "." || name == "..") {
      problems.add(ExitCode::kInvalid, fmt::format("{}: tensor \"{}\": \"{}\" is not the name of a file beside it",
                                                   index.string(), tensor, name));
    } else {
      names.insert(name);
    }
  }
  problems.raise();
  files_.reserve(names.size());
  for (const std::string& name : names) {
    const std::string shard = name_in(folder, name);
    if (files.has(shard)) {
      files_.push_back(open_file(files.path(shard)));
    } else {
      problems.add(ExitCode::kIo, fmt::format("{}: shard {} does not exist; download it too", index.string(), name));
    }
  }
  problems.raise();
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    for (const auto& shard : files_) {
      if (shard->path().filename() == file.get<std::string>() && shard->tensors().count(tensor) == 0) {
        problems.add(ExitCode::kInvalid,
                     fmt::format("{}: tensor \"{}\" is not in {}, though {} says so", shard->path().string(), tensor,
                                 file.get<std::string>(), index.filename().string()));
      }
    }
  }
  problems.raise();
}

Checkpoint::Checkpoint(std::map<std::string, MemoryTensor> tensors) {
  for (auto& entry : tensors) put(entry.first, std::move(entry.second));
}

void Checkpoint::put(const std::string& name, MemoryTensor tensor) {
  StoredTensor& stored = described_[name];
  stored.dtype = "F32";
  stored.shape = tensor.shape;
  stored.elements = tensor.values.size();
  stored.size = stored.elements * sizeof(float);
  tensors_[name] = Entry{0, &stored};
  memory_[name] = std::move(tensor);
}

void Checkpoint::put(const std::string& name, std::shared_ptr<const RowSource> rows, StoredTensor described,
                     size_t file) {
  StoredTensor& stored = described_[name] = std::move(described);
  tensors_[name] = Entry{file, &stored};
  memory_.erase(name);
  rows_[name] = std::move(rows);
}

std::shared_ptr<const RowSource> Checkpoint::rows(const std::string& name, size_t columns) const {
  if (changes_.count(name) != 0) return nullptr;
  if (const auto found = rows_.find(name); found != rows_.end()) {
    return found->second->columns() == columns ? found->second : nullptr;
  }
  if (memory_.count(name) != 0) return nullptr;
  const Entry& entry = tensors_.at(name);
  if (columns == 0 || !files_[entry.file]->reads_parts()) return nullptr;
  return std::make_shared<StoredRows>(files_[entry.file], name, columns);
}

std::vector<float> Checkpoint::read(const std::string& name) const {
  const auto held = memory_.find(name);
  const auto later = rows_.find(name);
  std::vector<float> values;
  if (held != memory_.end()) {
    values = held->second.values;
  } else if (later != rows_.end()) {
    values.resize(in_memory(tensors_.at(name).stored->elements, sizeof(float)));
    later->second->read(0, later->second->rows(), values.data());
  } else {
    values = files_[tensors_.at(name).file]->read(name);
  }
  const auto changes = changes_.find(name);
  if (changes == changes_.end()) return values;
  for (const auto& change : changes->second) change(&values);
  return values;
}

}  // namespace bantam::convert
