// A checkpoint of torch: the reader reads it or throws its own Error. The bytes are a whole file and, once more, a pickle
// alone, which a fuzzer would seldom give the right checksum.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "import/source/pickle.h"
#include "import/source/torch_file.h"
#include "tests/fuzz/limits.h"

namespace {

namespace fs = std::filesystem;

/// A file's place, removed at exit.
class Place {
 public:
  Place() : path_(fs::temp_directory_path() / ("bantam-torch-fuzz-" + std::to_string(getpid()) + ".bin")) {}
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
  const bantam::fuzz::Limits limits(size);
  static const Place place;
  const auto* text = reinterpret_cast<const char*>(data);
  may_refuse([&] { bantam::convert::read_state_dict(std::string_view(text, size), "pickle"); });
  std::ofstream(place.path(), std::ios::binary).write(text, static_cast<std::streamsize>(size));
  may_refuse([] {
    const bantam::convert::TorchFile file(place.path());
    // As the importer does, of what has a legal size only.
    for (const auto& [name, tensor] : file.tensors()) file.read_bytes(name);
  });
  return 0;
}
