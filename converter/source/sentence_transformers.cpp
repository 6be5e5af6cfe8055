#include "source/sentence_transformers.h"

#include <fmt/format.h>

#include <map>
#include <system_error>

#include "base/json_file.h"
#include "source/checkpoint.h"
#include "source/fields.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr const char* kStaticModule = "StaticEmbedding";
constexpr const char* kTermModule = "SpladePooling";

struct Module {
  std::string type;  // last part of the class's dotted name: "Pooling"
  fs::path directory;
};

bool file_exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// A module's folder lies inside the model's.
fs::path inside(const fs::path& directory, const std::string& relative) {
  const fs::path path(relative);
  bool legal = path.is_relative();
  for (const fs::path& part : path) legal = legal && part != "..";
  if (!legal) {
    throw Error(ExitCode::kInvalid,
                fmt::format("{}: path \"{}\" leaves the directory", (directory / "modules.json").string(), relative));
  }
  return relative.empty() ? directory : directory / path;
}

std::vector<Module> read_modules(const fs::path& directory) {
  const fs::path file = directory / "modules.json";
  const Json json = parse_json(read_text_file(file), file.string());
  std::vector<Module> modules;
  const bool list = json.is_array() && !json.empty();
  if (list) {
    for (const Json& entry : json) {
      if (!entry.is_object() || !entry.contains("type") || !entry["type"].is_string()) break;
      const auto type = entry["type"].get<std::string>();
      const std::string path =
          entry.contains("path") && entry["path"].is_string() ? entry["path"].get<std::string>() : "";
      modules.push_back({type.substr(type.rfind('.') + 1), inside(directory, path)});
    }
  }
  if (!list || modules.size() != json.size()) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: is not a list of modules with a type each", file.string()));
  }
  return modules;
}

fb::PoolKind read_pooling(const Module& module, Problems& problems) {
  const fs::path file = module.directory / "config.json";
  const Json json = read_json_object(file);
  const Fields fields(json, file.string(), problems);
  // Modes as older releases write them (a flag each) and as newer ones do (a name).
  static const std::map<std::string, fb::PoolKind> kModes = {{"pooling_mode_cls_token", fb::PoolKind::first},
                                                             {"pooling_mode_mean_tokens", fb::PoolKind::mean},
                                                             {"pooling_mode_max_tokens", fb::PoolKind::max},
                                                             {"pooling_mode_lasttoken", fb::PoolKind::last},
                                                             {"cls", fb::PoolKind::first},
                                                             {"mean", fb::PoolKind::mean},
                                                             {"max", fb::PoolKind::max},
                                                             {"lasttoken", fb::PoolKind::last}};
  std::vector<std::string> chosen;
  if (fields.has("pooling_mode")) chosen.push_back(fields.text("pooling_mode", ""));
  for (const auto& [key, value] : json.items()) {
    if (key.rfind("pooling_mode_", 0) == 0 && value.is_boolean() && value.get<bool>()) chosen.push_back(key);
  }
  if (chosen.size() == 1 && kModes.count(chosen.front()) != 0) return kModes.at(chosen.front());
  fields.problem(ExitCode::kUnsupported, "pooling_mode",
                 chosen.size() == 1
                     ? fmt::format("\"{}\" is not supported; cls, mean, max and lasttoken are", chosen.front())
                     : fmt::format("{} modes at once are not supported; exactly one is", chosen.size()));
  return fb::PoolKind::mean;
}

/// The module of a transformer, which with a SpladePooling behind it gives scores of words.
bool is_transformer(const Module& module) { return module.type == "Transformer" || module.type == "MLMTransformer"; }

void read_terms(const Module& module, Problems& problems, TermPooling* out) {
  const fs::path file = module.directory / "config.json";
  const Json json = read_json_object(file);
  const Fields fields(json, file.string(), problems);
  const std::string strategy = fields.text("pooling_strategy", "max");
  const std::string function = fields.text("activation_function", "relu");
  out->sums = strategy == "sum";
  out->saturations = function == "log1p_relu" ? 2 : 1;
  if (strategy != "max" && strategy != "sum") {
    fields.problem(ExitCode::kUnsupported, "pooling_strategy",
                   fmt::format("\"{}\" is not supported; max and sum are", strategy));
  }
  if (function != "relu" && function != "log1p_relu") {
    fields.problem(ExitCode::kUnsupported, "activation_function",
                   fmt::format("\"{}\" is not supported; relu and log1p_relu are", function));
  }
}

DenseModule read_dense(const Module& module, uint32_t in, Problems& problems) {
  const fs::path file = module.directory / "config.json";
  const Json json = read_json_object(file);
  const Fields fields(json, file.string(), problems);
  DenseModule out;
  out.name = module.directory.filename().string();
  out.tensors = out.name + ".linear";
  out.in = fields.count("in_features", 1U << 16);
  out.out = fields.count("out_features", 1U << 16);
  if (out.in != in) {
    fields.problem(ExitCode::kInvalid, "in_features", fmt::format("is {}, but {} columns come in", out.in, in));
  }
  if (fields.flag("use_residual", false)) {
    fields.problem(ExitCode::kUnsupported, "use_residual", "a sum with what comes in is not supported");
  }
  const std::string function = fields.text("activation_function", "torch.nn.modules.activation.Tanh");
  static const std::map<std::string, fb::ActivationKind> kFunctions = {
      {"Tanh", fb::ActivationKind::tanh}, {"Identity", fb::ActivationKind::none},   {"ReLU", fb::ActivationKind::relu},
      {"GELU", fb::ActivationKind::gelu}, {"Sigmoid", fb::ActivationKind::sigmoid}, {"SiLU", fb::ActivationKind::silu}};
  const auto kind = kFunctions.find(function.substr(function.rfind('.') + 1));
  if (kind != kFunctions.end()) {
    out.activation = kind->second;
  } else {
    fields.problem(ExitCode::kUnsupported, "activation_function", fmt::format("\"{}\" is not supported", function));
  }
  const Checkpoint checkpoint(module.directory);
  const auto take = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    Values values;
    const auto place = checkpoint.tensors().find(name);
    if (place == checkpoint.tensors().end() || place->second.stored->shape != shape) {
      problems.add(ExitCode::kInvalid,
                   fmt::format("{}: tensor \"{}\" is missing or has another shape than config.json says",
                               module.directory.string(), name));
      return values;
    }
    values.values = checkpoint.read(name);
    values.source = {out.name + "/" + name};
    values.source_bytes = place->second.stored->size;
    const std::string& dtype = place->second.stored->dtype;
    values.source_type = dtype == "F16" ? fb::DType::f16 : dtype == "BF16" ? fb::DType::bf16 : fb::DType::f32;
    return values;
  };
  out.weight = take("linear.weight", {out.out, out.in});
  if (fields.flag("bias", true)) out.bias = take("linear.bias", {out.out});
  return out;
}

void read_transformer_settings(const fs::path& directory, SentencePooling& out, Problems& problems) {
  const fs::path file = directory / "sentence_bert_config.json";
  if (!file_exists(file)) return;
  const Json json = read_json_object(file);
  const Fields fields(json, file.string(), problems);
  if (fields.has("max_seq_length")) out.max_tokens = fields.count("max_seq_length", 1U << 20);
  out.lowercase = fields.flag("do_lower_case", false);
}

void read_prompts(const fs::path& directory, SentencePooling& out, Problems& problems,
                  std::vector<std::string>& notes) {
  const fs::path file = directory / "config_sentence_transformers.json";
  if (!file_exists(file)) return;
  const Json json = read_json_object(file);
  const Fields fields(json, file.string(), problems);
  if (!fields.has("prompts") || !fields.raw("prompts").is_object()) return;
  const std::string chosen = fields.text("default_prompt_name", "");
  for (const auto& [name, text] : fields.raw("prompts").items()) {
    if (!text.is_string() || text.get<std::string>().empty()) continue;
    if (name == chosen) {
      out.prompt = text.get<std::string>();
    } else {
      notes.push_back(
          fmt::format("prompt \"{}\" (\"{}\") is not the default one and was left out: write it before the text "
                      "where it belongs",
                      name, text.get<std::string>()));
    }
  }
}

}  // namespace

bool has_static_module(const fs::path& directory) {
  return is_sentence_transformers(directory) && read_modules(directory).front().type == kStaticModule;
}

bool gives_token_vectors(const fs::path& directory) {
  if (!is_sentence_transformers(directory)) return false;
  bool projects = false;
  for (const Module& module : read_modules(directory)) {
    if (module.type == "Pooling") return false;
    projects = projects || module.type == "Dense" || module.type == "MultiVectorMask";
  }
  return projects;
}

std::vector<fs::path> module_directories(const fs::path& directory, const std::string& type) {
  std::vector<fs::path> found;
  for (const Module& module : read_modules(directory)) {
    if (module.type == type) found.push_back(module.directory);
  }
  return found;
}

bool is_sentence_transformers(const fs::path& directory) { return file_exists(directory / "modules.json"); }

fs::path transformer_directory(const fs::path& directory) {
  if (!is_sentence_transformers(directory)) return directory;
  for (const Module& module : read_modules(directory)) {
    if (is_transformer(module) || module.type == kStaticModule) return module.directory;
  }
  throw Error(ExitCode::kUnsupported,
              fmt::format("{}: has neither a Transformer nor a StaticEmbedding module; other sentence encoders are "
                          "not supported",
                          (directory / "modules.json").string()));
}

std::vector<std::string> sentence_transformers_files(const fs::path& directory) {
  if (!is_sentence_transformers(directory)) return {};
  std::vector<fs::path> candidates = {"modules.json", "config_sentence_transformers.json"};
  for (const Module& module : read_modules(directory)) {
    const fs::path folder = module.directory.lexically_relative(directory);
    if (module.type == kStaticModule) continue;
    if (is_transformer(module)) {
      candidates.push_back(folder / "sentence_bert_config.json");
    } else {
      for (const char* name : {"config.json", "model.safetensors"}) candidates.push_back(folder / name);
    }
  }
  std::vector<std::string> files;
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (fs::is_regular_file(directory / candidate, error))
      files.push_back(candidate.lexically_normal().generic_string());
  }
  return files;
}

SentencePooling read_sentence_pooling(const fs::path& directory, uint32_t hidden, Problems& problems,
                                      std::vector<std::string>& notes) {
  SentencePooling out;
  if (!is_sentence_transformers(directory)) {
    notes.push_back("the directory has no modules.json: embeddings are mean-pooled and divided by their length");
    return out;
  }
  out.normalize = false;
  bool pooled = false;
  uint32_t width = hidden;
  const std::vector<Module> modules = read_modules(directory);
  for (const Module& module : modules) {
    if (module.type == "Transformer") {
      read_transformer_settings(module.directory, out, problems);
    } else if (module.type == kStaticModule && !pooled) {
      pooled = true;  // the mean
    } else if (module.type == "Pooling" && !pooled) {
      out.pool = read_pooling(module, problems);
      pooled = true;
    } else if (module.type == "Dense" && pooled && !out.normalize) {
      out.dense.push_back(read_dense(module, width, problems));
      width = out.dense.back().out;
    } else if (module.type == "Normalize" && pooled) {
      out.normalize = true;
    } else {
      problems.add(
          ExitCode::kUnsupported,
          fmt::format("{}: module {} ({}) is not supported here; Transformer, Pooling, Dense and Normalize in this "
                      "order are",
                      (directory / "modules.json").string(), module.type, module.directory.string()));
    }
  }
  if (!pooled) {
    problems.add(ExitCode::kUnsupported,
                 fmt::format("{}: has no Pooling module; add one, or convert the transformer with --task encoder",
                             (directory / "modules.json").string()));
  }
  read_prompts(directory, out, problems, notes);
  return out;
}

bool gives_terms(const fs::path& directory) {
  return is_sentence_transformers(directory) && !module_directories(directory, kTermModule).empty();
}

SentencePooling read_term_pooling(const fs::path& directory, Problems& problems, std::vector<std::string>& notes) {
  SentencePooling out;
  if (!is_sentence_transformers(directory)) {
    notes.push_back(
        "the directory has no modules.json: of each term the largest ln(1 + max(score, 0)) of a text's tokens is its "
        "weight");
    return out;
  }
  const std::vector<Module> modules = read_modules(directory);
  const bool plain = modules.size() == 2 && is_transformer(modules[0]) && modules[1].type == kTermModule;
  if (!plain) {
    problems.add(ExitCode::kUnsupported,
                 fmt::format("{}: terms are made by an MLMTransformer and a {} behind it, and by no other module",
                             (directory / "modules.json").string(), kTermModule));
    return out;
  }
  read_transformer_settings(modules[0].directory, out, problems);
  read_terms(modules[1], problems, &out.terms);
  read_prompts(directory, out, problems, notes);
  return out;
}

SentencePooling read_token_modules(const fs::path& directory, uint32_t hidden, Problems& problems) {
  SentencePooling out;
  if (!is_sentence_transformers(directory)) return out;
  uint32_t width = hidden;
  for (const Module& module : read_modules(directory)) {
    if (module.type == "Dense") {
      out.dense.push_back(read_dense(module, width, problems));
      width = out.dense.back().out;
    } else if (module.type == "Transformer") {
      read_transformer_settings(module.directory, out, problems);
      out.max_tokens = 0;  // queries and documents have limits of their own
    } else if (module.type != "MultiVectorMask" && module.type != "Normalize") {
      problems.add(ExitCode::kUnsupported,
                   fmt::format("{}: module {} ({}) is not supported here; Transformer, Dense, MultiVectorMask and "
                               "Normalize are",
                               (directory / "modules.json").string(), module.type, module.directory.string()));
    }
  }
  return out;
}

}  // namespace bantam::convert
