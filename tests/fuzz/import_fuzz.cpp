// A Hugging Face directory in which the fuzzer's bytes replace one file: the importer reads it or throws its own Error.
// The first byte chooses the model and the file; the rest is the file.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "import/hugging_face.h"
#include "tests/fuzz/limits.h"

namespace {

namespace fs = std::filesystem;

constexpr const char* kModels[] = {"bert-joint", "distilbert-tag", "sentence-cls-dense", "knowledge-ernie-typing"};
constexpr size_t kUsual =
    3;  // models that have the files below; the last one has its own, for first bytes from kOwn on
constexpr uint8_t kOwn = 240;
constexpr const char* kOwnFiles[] = {"ernie_config.json", "kg_embed/entity2id.txt", "kg_embed/entity2vec.vec"};
constexpr const char* kFiles[] = {
    "config.json",           "model.safetensors", "tokenizer.json",        "vocab.txt",
    "tokenizer_config.json", "modules.json",      "1_Pooling/config.json", "2_Dense/config.json"};

/// A private copy of the models, removed at exit.
class Workspace {
 public:
  Workspace() : root_(fs::temp_directory_path() / ("bantam-import-fuzz-" + std::to_string(getpid()))) {
    for (const char* model : kModels) {
      fs::create_directories(root_ / model);
      fs::copy(fs::path(BANTAM_SOURCE_DIR) / "tests/golden/models" / model, root_ / model,
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    }
  }
  ~Workspace() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  fs::path model(size_t index) const { return root_ / kModels[index]; }

 private:
  fs::path root_;
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

void write(const fs::path& path, const char* data, size_t size) {
  std::ofstream(path, std::ios::binary).write(data, static_cast<std::streamsize>(size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const bantam::fuzz::Limits limits(size);
  static const Workspace workspace;
  if (size == 0) return 0;
  const bool own = data[0] >= kOwn;
  const fs::path directory = workspace.model(own ? kUsual : data[0] / std::size(kFiles) % kUsual);
  const fs::path target =
      directory / (own ? kOwnFiles[data[0] % std::size(kOwnFiles)] : kFiles[data[0] % std::size(kFiles)]);
  if (!fs::exists(target.parent_path())) return 0;
  const bool existed = fs::exists(target);
  const std::string before = existed ? read(target) : std::string();
  write(target, reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    bantam::convert::import_hugging_face(directory);
  } catch (const bantam::convert::Error& error) {
    if (error.problems().empty()) std::abort();
  }
  if (existed) {
    write(target, before.data(), before.size());
  } else {
    fs::remove(target);
  }
  return 0;
}
