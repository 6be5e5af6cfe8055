#include "source/export_file.h"

#include <system_error>
#include <vector>

#include "base/is_there.h"

namespace bantam::convert {
namespace fs = std::filesystem;

fs::path export_file(const fs::path& directory, const char* extension, std::initializer_list<const char*> names) {
  for (const char* other : {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                            "pytorch_model.bin.index.json", "modules.json"}) {
    if (is_there(directory / other)) return {};
  }
  for (const char* name : names) {
    if (is_there(directory / name)) return directory / name;
  }
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == extension) found.push_back(entry.path());
  }
  return found.size() == 1 ? found.front() : fs::path{};
}

}  // namespace bantam::convert
