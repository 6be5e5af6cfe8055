#include "source/sentence_modules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace bantam::convert {
namespace fs = std::filesystem;

bool SentenceModules::give_token_vectors() const {
  bool projects = false;
  for (const SentenceModule& module : list) {
    if (module.type == "Pooling") return false;
    projects = projects || module.type == "Dense" || module.type == "MultiVectorMask";
  }
  return projects;
}

bool SentenceModules::give_terms() const {
  return std::any_of(list.begin(), list.end(), [](const SentenceModule& module) { return module.gives_terms(); });
}

SentenceModules read_sentence_modules(const Directory& files, const std::string& folder) {
  SentenceModules modules;
  const std::string file = name_in(folder, kModulesFile);
  if (!files.has(file)) return modules;
  const std::string where = files.path(file).string();
  const Json& json = files.json(file);
  const bool list = json.is_array() && !json.empty();
  if (list) {
    for (const Json& entry : json) {
      if (!entry.is_object() || !entry.contains("type") || !entry["type"].is_string()) break;
      const auto type = entry["type"].get<std::string>();
      const std::string path =
          entry.contains("path") && entry["path"].is_string() ? entry["path"].get<std::string>() : "";
      // A module's folder must be inside the model's.
      bool legal = fs::path(path).is_relative();
      for (const fs::path& part : fs::path(path)) legal = legal && part != "..";
      if (!legal) {
        throw Error(ExitCode::kInvalid, fmt::format("{}: path \"{}\" leaves the directory", where, path));
      }
      modules.list.push_back({type.substr(type.rfind('.') + 1), path});
    }
  }
  if (!list || modules.list.size() != json.size()) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: is not a list of modules with a type each", where));
  }
  return modules;
}

std::string transformer_folder(const Directory& files, const SentenceModules& modules) {
  if (modules.empty()) return "";
  for (const SentenceModule& module : modules.list) {
    if (module.is_transformer() || module.is_static()) return module.folder;
  }
  throw Error(ExitCode::kUnsupported,
              fmt::format("{}: has neither a Transformer nor a StaticEmbedding module; other sentence encoders are "
                          "not supported",
                          files.path(kModulesFile).string()));
}

}  // namespace bantam::convert
