#include "import/source/checkpoint.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/error.h"
#include "base/json_file.h"

namespace bantam::convert {
namespace fs = std::filesystem;

Checkpoint::Checkpoint(const fs::path& directory) {
  const fs::path single = directory / "model.safetensors";
  const fs::path index = directory / "model.safetensors.index.json";
  if (fs::exists(single)) {
    files_.emplace_back(single);
  } else if (fs::exists(index)) {
    open_shards(index);
  } else {
    const bool pickle =
        fs::exists(directory / "pytorch_model.bin") || fs::exists(directory / "pytorch_model.bin.index.json");
    throw Error(
        ExitCode::kInvalid,
        fmt::format("{}: holds neither model.safetensors nor model.safetensors.index.json; {}", directory.string(),
                    pickle ? "save it again with transformers: "
                             "AutoModel.from_pretrained(DIR).save_pretrained(NEW_DIR, safe_serialization=True)"
                           : "name the directory that holds the model's weights"));
  }
  for (size_t i = 0; i < files_.size(); ++i) {
    for (const auto& [name, stored] : files_[i].tensors()) {
      const auto [place, added] = tensors_.emplace(name, Entry{i, &stored});
      if (!added) {
        throw Error(ExitCode::kInvalid,
                    fmt::format("tensor \"{}\" is in two files: {} and {}", name,
                                files_[place->second.file].path().string(), files_[i].path().string()));
      }
    }
  }
}

void Checkpoint::open_shards(const fs::path& index) {
  const Json json = read_json_object(index);
  if (!json.contains("weight_map") || !json["weight_map"].is_object() || json["weight_map"].empty()) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: has no weight_map", index.string()));
  }
  Problems problems;
  std::set<std::string> names;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    // A shard lies beside its index; anything else would read files that the user did not name.
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
    const fs::path path = index.parent_path() / name;
    if (fs::exists(path)) {
      files_.emplace_back(path);
    } else {
      problems.add(ExitCode::kIo, fmt::format("{}: shard {} does not exist; download it too", index.string(), name));
    }
  }
  problems.raise();
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    for (const Safetensors& shard : files_) {
      if (shard.path().filename() == file.get<std::string>() && shard.tensors().count(tensor) == 0) {
        problems.add(ExitCode::kInvalid,
                     fmt::format("{}: tensor \"{}\" is not in {}, though {} says so", shard.path().string(), tensor,
                                 file.get<std::string>(), index.filename().string()));
      }
    }
  }
  problems.raise();
}

Checkpoint::Checkpoint(std::map<std::string, MemoryTensor> tensors) : memory_(std::move(tensors)) {
  for (const auto& [name, tensor] : memory_) {
    StoredTensor& stored = described_[name];
    stored.dtype = "F32";
    stored.shape = tensor.shape;
    stored.elements = tensor.values.size();
    stored.size = stored.elements * sizeof(float);
    tensors_[name] = Entry{0, &stored};
  }
}

std::vector<float> Checkpoint::read(const std::string& name) const {
  const auto held = memory_.find(name);
  return held != memory_.end() ? held->second.values : files_[tensors_.at(name).file].read(name);
}

}  // namespace bantam::convert
