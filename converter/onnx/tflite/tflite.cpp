#include "onnx/tflite/tflite.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "onnx/inputs.h"
#include "onnx/tflite/archive.h"
#include "onnx/tflite/metadata.h"
#include "onnx/tflite/translator.h"
#include "source/export_file.h"
#include "source/model_source.h"
#include "source/source_path.h"
#include "source/weight_file.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

/// The usual ONNX name of an input with this name; "": unknown.
std::string called(const std::string& name) {
  const std::optional<onnx::InputRole> role = onnx::role_of_words(name);
  return role ? onnx::name_of(*role) : "";
}

/// Determines the roles from the names in the signature, the metadata and the tensors; each role occurs once.
std::vector<std::string> roles_of(const tflite::File& file, const tflite::Metadata& metadata,
                                  const onnx::Model& model) {
  std::vector<std::string> roles;
  for (size_t i = 0; i < file.inputs.size(); ++i) {
    std::string name = file.tensors[static_cast<size_t>(file.inputs[i])].name;
    // "serving_default_" names the signature, not the input.
    const std::string prefix = "serving_default_";
    if (name.rfind(prefix, 0) == 0) name.erase(0, prefix.size());
    std::string role;
    for (const std::string& one : {file.input_names[i], name}) {
      const auto given = model.given.find(one);
      if (given != model.given.end()) role = onnx::name_of(given->second);
    }
    if (role.empty()) role = called(file.input_names[i]);
    if (role.empty() && metadata.inputs.size() == file.inputs.size()) role = called(metadata.inputs[i]);
    if (role.empty()) role = called(name);
    if (std::find(roles.begin(), roles.end(), role) != roles.end()) role.clear();
    roles.push_back(std::move(role));
  }
  if (roles.size() == 1) roles[0] = "input_ids";
  return roles;
}

/// The file that the path names or that lies in the directory.
std::string tflite_file(const SourcePath& named) { return export_file(named, ".tflite", {"model.tflite"}); }

onnx::Model model_of(const tflite::File& file, const tflite::Metadata& metadata, const SourceOptions& options) {
  onnx::Model model;
  model.chosen_output = options.output;
  model.given = onnx::parse_inputs(options.inputs);
  model.path = file.path;
  model.budget = file.budget;
  model.format = "tflite";
  model.documented = "docs/tflite.md";
  model.producer = file.description;
  tflite::Translator(file, roles_of(file, metadata, model), model).run();
  model.given.clear();  // inputs are now named by their roles
  onnx::settle(model);
  return model;
}

}  // namespace

onnx::Model read_tflite(std::string_view bytes, const std::string& path) {
  const tflite::File file = tflite::read_file(bytes, path);
  return model_of(file, tflite::read_metadata(file.metadata, path), {});
}

// A .tflite file, or a directory with one and no other weights.
bool is_tflite(const SourcePath& named) { return !tflite_file(named).empty(); }

ModelSource open_tflite(const SourcePath& named, const SourceOptions& options) {
  const fs::path path = export_path(named, tflite_file(named));
  if (size_of_file(path) == 0)
    throw Error(ExitCode::kInvalid, fmt::format("{}: is empty; copy it again", path.string()));
  auto mapped = std::make_shared<host::MappedFile>();
  if (mapped->open(path.c_str()) != Status::kOk) {
    throw Error(ExitCode::kIo, fmt::format("{}: cannot be read", path.string()));
  }
  const std::string_view bytes(reinterpret_cast<const char*>(mapped->data()), mapped->size());
  const tflite::File file = tflite::read_file(bytes, path.string());
  const tflite::Metadata metadata = tflite::read_metadata(file.metadata, path.string());
  onnx::Model model = model_of(file, metadata, options);
  model.mappings.push_back(mapped);
  ModelSource source;
  source.files = named.files;
  source.config = named.files->object_or_empty("config.json");
  if (model.tokens != 0) source.config.emplace("max_position_embeddings", static_cast<uint64_t>(model.tokens));
  if (model.sigmoid) source.config.emplace("problem_type", "multi_label_classification");
  source.tokenizer = read_tokenizer_files(*named.files);
  tflite::add_files(path, bytes, metadata, source);
  source.weight_files = {path};
  source.onnx = std::make_shared<const onnx::Model>(std::move(model));
  // A README.md beside the file takes precedence.
  source.card.name = metadata.name;
  source.card.licence = metadata.licence;
  source.card.description = metadata.description.substr(0, kMaxDescription);
  return source;
}

}  // namespace bantam::convert
