#include "source/sentence_transformers.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "base/json_file.h"
#include "source/checkpoint.h"
#include "source/fields.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

/// A module and its location in a source.
struct Placed {
  const SentenceModule& module;
  const Directory& files;
  std::string folder;  // in `files`

  Placed(const ModelSource& source, const SentenceModule& which)
      : module(which),
        files(*source.files),
        folder(which.folder.empty() ? source.around : source.name_around(which.folder)) {}
  std::string where() const { return files.path(folder).string(); }
  std::string name(const char* file) const { return name_in(folder, file); }
  std::string path(const char* file) const { return files.path(name(file)).string(); }
  const Json& config() const { return files.object(name("config.json")); }
};

std::string modules_path(const ModelSource& source) {
  return source.files->path(source.name_around(kModulesFile)).string();
}

fb::PoolKind read_pooling(const Placed& module, bool* include_prompt, Problems& problems) {
  const Json& json = module.config();
  const Fields fields(json, module.path("config.json"), problems);
  *include_prompt = fields.flag("include_prompt", true);
  // Modes in the form of older releases (one flag each) and of newer ones (a name).
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

void read_terms(const Placed& module, Problems& problems, TermPooling* out) {
  const Fields fields(module.config(), module.path("config.json"), problems);
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

DenseModule read_dense(const Placed& module, uint32_t in, Problems& problems) {
  const Fields fields(module.config(), module.path("config.json"), problems);
  DenseModule out;
  out.name = module.files.path(module.folder).filename().string();
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
  const Checkpoint checkpoint(module.files, module.folder);
  const auto take = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    Values values;
    const auto place = checkpoint.tensors().find(name);
    if (place == checkpoint.tensors().end() || place->second.stored->shape != shape) {
      problems.add(
          ExitCode::kInvalid,
          fmt::format("{}: tensor \"{}\" is missing or has another shape than config.json says", module.where(), name));
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

void read_transformer_settings(const Placed& module, SentencePooling& out, Problems& problems) {
  const Fields fields(module.files.object_or_empty(module.name(kTransformerFile)), module.path(kTransformerFile),
                      problems);
  if (fields.has("max_seq_length")) out.max_tokens = fields.count("max_seq_length", 1U << 20);
  out.lowercase = fields.flag("do_lower_case", false);
}

void read_prompts(const ModelSource& source, SentencePooling& out, Problems& problems,
                  std::vector<std::string>& notes) {
  const Fields fields = fields_around(source, kPromptsFile, problems);
  if (!fields.has("prompts") || !fields.raw("prompts").is_object()) return;
  const std::string chosen = fields.text("default_prompt_name", "");
  const Json& prompts = fields.raw("prompts");
  const auto named = [&prompts](const std::string& name) -> std::optional<std::string> {
    const auto found = prompts.find(name);
    if (found == prompts.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
  };
  out.prompt = named(chosen).value_or("");
  out.query_prompt = named("query");
  std::string document;
  for (const char* name : {"document", "passage", "corpus"}) {  // in the order of encode_document
    if (out.document_prompt) break;
    out.document_prompt = named(name);
    document = name;
  }
  for (const auto& [name, text] : prompts.items()) {
    if (!text.is_string() || text.get<std::string>().empty()) continue;
    if (name == chosen || name == "query" || name == document) continue;
    notes.push_back(fmt::format("prompt \"{}\" (\"{}\") is not stored: write it before the text where it belongs", name,
                                text.get<std::string>()));
  }
}

/// Reads the settings of config_sentence_transformers.json other than prompts.
void read_vector_settings(const ModelSource& source, SentencePooling& out, Problems& problems) {
  const Fields fields = fields_around(source, kPromptsFile, problems);
  if (fields.has("truncate_dim")) out.truncate_dim = fields.count("truncate_dim", 1U << 16);
  const std::string similarity = fields.text("similarity_fn_name", "cosine");
  static const std::map<std::string, std::string> kNames = {
      {"cosine", ""}, {"dot", "dot"}, {"dot_score", "dot"}, {"euclidean", "euclidean"}, {"manhattan", "manhattan"}};
  const auto known = kNames.find(similarity);
  if (known != kNames.end()) {
    out.similarity = known->second;
  } else {
    fields.problem(ExitCode::kUnsupported, "similarity_fn_name",
                   fmt::format("\"{}\" is not supported; cosine, dot, euclidean and manhattan are", similarity));
  }
}

}  // namespace

std::vector<std::string> sentence_transformers_files(const ModelSource& source) {
  if (source.modules.empty()) return {};
  std::vector<fs::path> candidates = {kModulesFile, kPromptsFile};
  for (const SentenceModule& module : source.modules.list) {
    const fs::path folder(module.folder);
    if (module.is_static()) continue;
    if (module.is_transformer()) {
      candidates.push_back(folder / kTransformerFile);
    } else {
      for (const char* name : {"config.json", "model.safetensors"}) candidates.push_back(folder / name);
    }
  }
  std::vector<std::string> files;
  for (const fs::path& candidate : candidates) {
    const std::string name = candidate.lexically_normal().generic_string();
    if (source.files->has_file(source.name_around(name))) files.push_back(name);
  }
  return files;
}

SentencePooling read_sentence_pooling(const ModelSource& source, uint32_t hidden, Problems& problems,
                                      std::vector<std::string>& notes) {
  SentencePooling out;
  if (source.modules.empty()) {
    notes.push_back("the directory has no modules.json: embeddings are mean-pooled and divided by their length");
    return out;
  }
  out.normalize = false;
  bool pooled = false;
  uint32_t width = hidden;
  for (const SentenceModule& stated : source.modules.list) {
    const Placed module(source, stated);
    if (stated.type == "Transformer") {
      read_transformer_settings(module, out, problems);
    } else if (stated.is_static() && !pooled) {
      pooled = true;  // pools with the mean
    } else if (stated.type == "Pooling" && !pooled) {
      out.pool = read_pooling(module, &out.include_prompt, problems);
      pooled = true;
    } else if (stated.type == "Dense" && pooled && !out.normalize) {
      out.dense.push_back(read_dense(module, width, problems));
      width = out.dense.back().out;
    } else if (stated.type == "Normalize" && pooled) {
      out.normalize = true;
    } else {
      problems.add(
          ExitCode::kUnsupported,
          fmt::format("{}: module {} ({}) is not supported here; Transformer, Pooling, Dense and Normalize in this "
                      "order are",
                      modules_path(source), stated.type, module.where()));
    }
  }
  if (!pooled) {
    problems.add(ExitCode::kUnsupported,
                 fmt::format("{}: has no Pooling module; add one, or convert the transformer with --task encoder",
                             modules_path(source)));
  }
  read_prompts(source, out, problems, notes);
  read_vector_settings(source, out, problems);
  return out;
}

bool is_cross_encoder(const ModelSource& source) {
  if (!source.modules.alone()) return false;
  const auto says = [&source](const std::string& file, const char* key, const char* value) {
    const Json& json = source.files->object_or_empty(file);
    const auto found = json.find(key);
    return found != json.end() && found->is_string() && found->get<std::string>() == value;
  };
  return says(source.name_around(kPromptsFile), "model_type", "CrossEncoder") ||
         says(source.name_inside(kTransformerFile), "transformer_task", "sequence-classification");
}

SentencePooling read_cross_encoder(const ModelSource& source, Problems& problems, std::vector<std::string>& notes) {
  SentencePooling out;
  read_transformer_settings(Placed(source, source.modules.list.front()), out, problems);
  read_prompts(source, out, problems, notes);
  return out;
}

std::string score_function(const ModelSource& source, const Fields& config, Problems& problems) {
  std::string function = config.text("sbert_ce_default_activation_function", "");
  if (config.has("sentence_transformers") && config.raw("sentence_transformers").is_object()) {
    function = config.inside("sentence_transformers").text("activation_fn", function);
  }
  if (!source.modules.empty()) {
    function = fields_around(source, kPromptsFile, problems).text("activation_fn", function);
  }
  return function.substr(function.rfind('.') + 1);
}

SentencePooling read_term_pooling(const ModelSource& source, Problems& problems, std::vector<std::string>& notes) {
  SentencePooling out;
  if (source.modules.empty()) {
    notes.push_back(
        "the directory has no modules.json: of each term the largest ln(1 + max(score, 0)) of a text's tokens is its "
        "weight");
    return out;
  }
  const std::vector<SentenceModule>& modules = source.modules.list;
  const bool plain = modules.size() == 2 && modules[0].is_transformer() && modules[1].gives_terms();
  if (!plain) {
    problems.add(ExitCode::kUnsupported,
                 fmt::format("{}: terms are made by an MLMTransformer and a SpladePooling behind it, and by no "
                             "other module",
                             modules_path(source)));
    return out;
  }
  read_transformer_settings(Placed(source, modules[0]), out, problems);
  read_terms(Placed(source, modules[1]), problems, &out.terms);
  read_prompts(source, out, problems, notes);
  return out;
}

SentencePooling read_token_modules(const ModelSource& source, uint32_t hidden, Problems& problems) {
  SentencePooling out;
  if (source.modules.empty()) return out;
  uint32_t width = hidden;
  for (const SentenceModule& stated : source.modules.list) {
    const Placed module(source, stated);
    if (stated.type == "Dense") {
      out.dense.push_back(read_dense(module, width, problems));
      width = out.dense.back().out;
    } else if (stated.type == "Transformer") {
      read_transformer_settings(module, out, problems);
      out.max_tokens = 0;  // queries and documents have their own limits
    } else if (stated.type != "MultiVectorMask" && stated.type != "Normalize") {
      problems.add(ExitCode::kUnsupported,
                   fmt::format("{}: module {} ({}) is not supported here; Transformer, Dense, MultiVectorMask and "
                               "Normalize are",
                               modules_path(source), stated.type, module.where()));
    }
  }
  return out;
}

}  // namespace bantam::convert
