#include "import/source/towers.h"

#include <fmt/format.h>

#include "base/error.h"

namespace bantam::convert {

bool has_towers(const Json& config) {
  const auto type = config.find("model_type");
  return type != config.end() && type->is_string() && type->get<std::string>() == "clip";
}

Json tower_settings(const Json& config, const std::string& tower) {
  if (tower != "text" && tower != "vision") {
    throw Error(ExitCode::kUsage,
                "config.json: the directory holds a model of texts and one of images, each of which is a file of its "
                "own: give convert --tower text or --tower vision, and other commands a directory of one of them, as "
                "transformers' CLIPTextModelWithProjection writes it");
  }
  Json settings = Json::object();
  bool stated = false;
  // Old files have what counts in the second one.
  for (const char* ending : {"_config", "_config_dict"}) {
    const auto part = config.find(tower + ending);
    if (part == config.end() || part->is_null()) continue;
    if (!part->is_object()) {
      throw Error(ExitCode::kInvalid, fmt::format("config.json: {}{}: is no object", tower, ending));
    }
    settings.update(*part);
    stated = true;
  }
  if (!stated) throw Error(ExitCode::kInvalid, fmt::format("config.json: {}_config: is missing", tower));
  settings["model_type"] = "clip_" + tower + "_model";
  settings["architectures"] =
      Json::array({tower == "text" ? "CLIPTextModelWithProjection" : "CLIPVisionModelWithProjection"});
  return settings;
}

}  // namespace bantam::convert
