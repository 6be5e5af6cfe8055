#include "source/export_file.h"

#include <vector>

#include "source/sentence_modules.h"

namespace bantam::convert {
namespace fs = std::filesystem;

std::string export_file(const SourcePath& named, const char* extension, std::initializer_list<const char*> names) {
  if (!named.is_folder()) return named.is_file() && named.path.extension() == extension ? named.file : "";
  const Directory& files = *named.files;
  for (const char* other : {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                            "pytorch_model.bin.index.json", kModulesFile}) {
    if (files.has(other)) return "";
  }
  for (const char* name : names) {
    if (files.has(name)) return name;
  }
  std::vector<std::string> found;
  for (const std::string& name : files.names()) {
    if (fs::path(name).extension() == extension) found.push_back(name);
  }
  return found.size() == 1 ? found.front() : "";
}

fs::path export_path(const SourcePath& named, const std::string& file) {
  return named.is_folder() ? named.files->path(file) : named.path;
}

}  // namespace bantam::convert
