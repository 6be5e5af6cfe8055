#include "source/towers.h"

#include <fmt/format.h>

#include "base/error.h"

namespace bantam::convert {

namespace {

/// transformers' names for the towers of a model: the suffix of model_type ("_text_model") and of the class of each
/// tower.
struct Towers {
  const char* model_type;
  const char* classes;
  const char* ending;
};
constexpr Towers kTowers[] = {{"clip", "CLIP", "ModelWithProjection"}, {"siglip", "Siglip", "Model"}};

const Towers* find_towers(const Json& config) {
  const auto type = config.find("model_type");
  if (type == config.end() || !type->is_string()) return nullptr;
  for (const Towers& towers : kTowers) {
    if (type->get<std::string>() == towers.model_type) return &towers;
  }
  return nullptr;
}

}  // namespace

bool has_towers(const Json& config) { return find_towers(config) != nullptr; }

Json tower_settings(const Json& config, const std::string& tower) {
  const Towers& towers = *find_towers(config);
  const auto class_of = [&towers](const char* kind) {
    return fmt::format("{}{}{}", towers.classes, kind, towers.ending);
  };
  if (tower != "text" && tower != "vision") {
    throw Error(ExitCode::kUsage,
                fmt::format("config.json: the directory holds a model of texts and one of images, each of which is a "
                            "file of its own: give convert --tower text or --tower vision, and other commands a "
                            "directory of one of them, as transformers' {} writes it",
                            class_of("Text")));
  }
  Json settings = Json::object();
  bool stated = false;
  // In old files, the second one takes precedence.
  for (const char* ending : {"_config", "_config_dict"}) {
    const auto part = config.find(tower + ending);
    if (part == config.end() || part->is_null()) continue;
    if (!part->is_object()) {
      throw Error(ExitCode::kInvalid, fmt::format("config.json: {}{}: is not an object", tower, ending));
    }
    settings.update(*part);
    stated = true;
  }
  if (!stated) throw Error(ExitCode::kInvalid, fmt::format("config.json: {}_config: is missing", tower));
  settings["model_type"] = fmt::format("{}_{}_model", towers.model_type, tower);
  settings["architectures"] = Json::array({class_of(tower == "text" ? "Text" : "Vision")});
  return settings;
}

}  // namespace bantam::convert
