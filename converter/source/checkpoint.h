// Checkpoint: all tensors of a Hugging Face directory, from one file or from shards, in safetensors or torch format.
#ifndef BANTAM_CONVERTER_SOURCE_CHECKPOINT_H_
#define BANTAM_CONVERTER_SOURCE_CHECKPOINT_H_

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/directory.h"
#include "graph/graph.h"
#include "source/weight_file.h"

namespace bantam::convert {

/// An f32 tensor, row-major.
struct MemoryTensor {
  std::vector<uint64_t> shape;
  std::vector<float> values;
};

class Checkpoint {
 public:
  /// Opens a folder of `files`: model.safetensors, else the shards listed in model.safetensors.index.json, else
  /// pytorch_model.bin, else the shards listed in pytorch_model.bin.index.json. Throws Error.
  explicit Checkpoint(const Directory& files, const std::string& folder = "");
  /// Holds tensors in memory; files() is empty.
  explicit Checkpoint(std::map<std::string, MemoryTensor> tensors);
  /// Holds all tensors of one file.
  explicit Checkpoint(std::unique_ptr<WeightFile> file);
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  /// Adds a tensor in memory; replaces one of the same name.
  void put(const std::string& name, MemoryTensor tensor);
  /// Adds a tensor that is read on demand, all of whose values are those of `rows` in order; replaces one of the same
  /// name. `file`: number of the file that errors name.
  void put(const std::string& name, std::shared_ptr<const RowSource> rows, StoredTensor described, size_t file);
  /// Hides a tensor, as if it were not in the files.
  void leave_out(const std::string& name) { tensors_.erase(name); }
  /// Makes read() pass the values of `name`, one of tensors(), through `change`, which must keep their number. Later
  /// changes are applied after earlier ones.
  void change(const std::string& name, std::function<void(std::vector<float>*)> change) {
    changes_[name].push_back(std::move(change));
  }

  struct Entry {
    size_t file = 0;
    const StoredTensor* stored = nullptr;
  };

  const std::map<std::string, Entry>& tensors() const { return tensors_; }
  const std::vector<std::shared_ptr<WeightFile>>& files() const { return files_; }
  /// See WeightFile::read. `name` is one of tensors().
  std::vector<float> read(const std::string& name) const;
  /// The same values as rows of `columns`, which are read from the file only on demand. Null: the file cannot be read
  /// in parts, or the tensor is not in a file as it is.
  std::shared_ptr<const RowSource> rows(const std::string& name, size_t columns) const;

 private:
  void index_files();
  void open_shards(const Directory& files, const std::string& folder, const std::string& index);

  std::vector<std::shared_ptr<WeightFile>> files_;
  std::map<std::string, Entry> tensors_;
  std::map<std::string, MemoryTensor> memory_;
  std::map<std::string, std::shared_ptr<const RowSource>> rows_;
  std::map<std::string, StoredTensor> described_;  // of memory_ and rows_
  std::map<std::string, std::vector<std::function<void(std::vector<float>*)>>> changes_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_CHECKPOINT_H_
