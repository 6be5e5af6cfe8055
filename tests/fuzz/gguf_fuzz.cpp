// A GGUF file: the reader reads it or throws its own Error, and so do its settings, its tensors and its tokenizer.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "import/gguf/gguf_file.h"
#include "import/gguf/gguf_models.h"
#include "import/gguf/gguf_tokenizer.h"
#include "import/gguf/gguf_weights.h"
#include "tests/fuzz/limits.h"

namespace {

namespace fs = std::filesystem;

/// A file's place, removed at exit.
class Place {
 public:
  Place() : path_(fs::temp_directory_path() / ("bantam-gguf-fuzz-" + std::to_string(getpid()) + ".gguf")) {}
  ~Place() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

template <typename Work>
void may_refuse(const Work& work) {
  try {
    work();
  } catch (const bantam::convert::Error& error) {
    if (error.problems().empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bantam::convert;
  const bantam::fuzz::Limits limits(size);
  static const Place place;
  std::ofstream(place.path(), std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<long>(size));
  may_refuse([] {
    const auto file = std::make_shared<const GgufFile>(place.path());
    may_refuse([&] {
      const GgufModel& model = gguf_model(*file);
      Problems problems;
      std::vector<std::string> notes;
      static_cast<void>(gguf_config(model, *file, problems, notes));
      const GgufWeights weights(file, model);
      for (const auto& [name, tensor] : weights.tensors()) {
        if (weights.read_bytes(name).size() != tensor.size) std::abort();
      }
    });
    may_refuse([&] {
      Graph graph;
      std::vector<std::string> problems;
      const bool made = import_tokenizer(read_gguf_tokenizer(*file), graph, problems);
      if (made != (graph.model.tokenizers.size() == 1)) std::abort();
    });
  });
  return 0;
}
