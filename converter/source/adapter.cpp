#include "source/adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "source/fields.h"
#include "source/safetensors.h"
#include "source/torch_file.h"
#include "source/weights.h"

namespace bantam::convert {
namespace {

constexpr const char* kAdapterWeights = "adapter_model.safetensors";
constexpr const char* kAdapterPickle = "adapter_model.bin";
constexpr const char* kMergeFirst =
    "merge it into its model with peft first: merge_and_unload() of the model with its adapter, then save_pretrained()";

/// Settings of LoraConfig that change the adapter's computation but are not supported, with their neutral values.
struct LoraSetting {
  const char* key;
  std::vector<Json> neutral;
};

const std::vector<LoraSetting>& unmerged_settings() {
  // Named initializations (PiSSA, OLoRA, CorDA, LoftQ) also change the model's own weights.
  static const std::vector<LoraSetting> kSettings = {
      {"init_lora_weights", {true, false, "gaussian", "eva", "orthogonal"}},
      {"layer_replication", {nullptr, Json::array()}},
      {"alora_invocation_tokens", {nullptr}},
      {"use_qalora", {false, nullptr}},
      {"use_bdlora", {nullptr, false}},
      {"velora_config", {nullptr}},
      {"monteclora_config", {nullptr}},
      {"arrow_config", {nullptr}},
      {"kasa_config", {nullptr}},
      {"trainable_token_indices", {nullptr}},
      {"target_parameters", {nullptr, Json::array()}},
  };
  return kSettings;
}

/// The tensors of one adapted module; an empty name means that there is none.
struct LoraModule {
  std::string a, b, bias, magnitude;
  bool embedding = false;
};

/// A f32 matrix, row-major.
struct Matrix {
  size_t rows = 0, columns = 0;
  std::vector<float> values;
};

/// The product left * right. O(rows * inner * columns).
Matrix product(const Matrix& left, const Matrix& right) {
  Matrix out{left.rows, right.columns, std::vector<float>(left.rows * right.columns)};
  for (size_t row = 0; row < left.rows; ++row) {
    float* sums = out.values.data() + row * out.columns;
    for (size_t i = 0; i < left.columns; ++i) {
      const float factor = left.values[row * left.columns + i];
      const float* from = right.values.data() + i * right.columns;
      for (size_t column = 0; column < out.columns; ++column) sums[column] += factor * from[column];
    }
  }
  return out;
}

bool remove_suffix(std::string* name, std::string_view suffix) {
  if (!ends_with(*name, suffix)) return false;
  name->resize(name->size() - suffix.size());
  return true;
}

class Merger {
 public:
  Merger(const Directory& files, const std::string& folder, const Json& config, Checkpoint* checkpoint)
      : settings_name_(files.path(name_in(folder, kAdapterSettings)).string()),
        settings_(files.object(name_in(folder, kAdapterSettings)), settings_name_, problems_),
        config_(config),
        checkpoint_(checkpoint) {
    const std::string weights = name_in(folder, kAdapterWeights), pickle = name_in(folder, kAdapterPickle);
    if (files.has(weights)) {
      adapter_ = std::make_shared<Safetensors>(files.path(weights));
    } else if (files.has(pickle)) {
      adapter_ = std::make_shared<TorchFile>(files.path(pickle));
    } else {
      throw Error(ExitCode::kInvalid,
                  fmt::format("{}: its weights, {} or {}, are missing; download them too, or remove {} to convert the "
                              "model without the adapter",
                              settings_name_, kAdapterWeights, kAdapterPickle, kAdapterSettings));
    }
  }

  std::filesystem::path merge() {
    read_settings();
    problems_.raise();
    for (const auto& [name, stored] : adapter_->tensors()) sort(name);
    // Replace whole tensors first, because LoRA may apply to one of them.
    for (const auto& [target, name] : replaced_) replace(target, name);
    for (const auto& [target, module] : modules_) add(target, module);
    problems_.raise();
    return adapter_->path();
  }

 private:
  void problem(ExitCode code, const std::string& tensor, const std::string& what) {
    problems_.add(code, fmt::format("{}: tensor \"{}\": {}", adapter_->path().string(), tensor, what));
  }

  void read_settings() {
    const std::string kind = settings_.text("peft_type", "");
    if (kind != "LORA") {
      settings_.problem(ExitCode::kUnsupported, "peft_type",
                        fmt::format("\"{}\" adapters are not merged, only LORA; {}", kind.substr(0, 40), kMergeFirst));
      return;
    }
    for (const LoraSetting& setting : unmerged_settings()) {
      if (!settings_.stands(setting.key)) continue;
      const Json& value = settings_.raw(setting.key);
      if (std::find(setting.neutral.begin(), setting.neutral.end(), value) != setting.neutral.end()) continue;
      settings_.problem(ExitCode::kUnsupported, setting.key,
                        fmt::format("{} is not supported; {}", value.dump().substr(0, 80), kMergeFirst));
    }
    alpha_ = settings_.number("lora_alpha", 8);
    stable_ = settings_.flag("use_rslora", false);
    dora_ = settings_.flag("use_dora", false);
    turned_ = settings_.flag("fan_in_fan_out", false);
    if (!settings_.has("alpha_pattern")) return;
    const Json& patterns = settings_.raw("alpha_pattern");
    if (!patterns.is_object()) return settings_.problem(ExitCode::kInvalid, "alpha_pattern", "is not an object");
    for (const auto& [pattern, value] : patterns.items()) {
      const bool plain = pattern.find_first_of("\\^$*+?()[]{}|") == std::string::npos;
      if (plain && value.is_number()) {
        alphas_.emplace_back(pattern, value.get<double>());
      } else {
        settings_.problem(plain ? ExitCode::kInvalid : ExitCode::kUnsupported, "alpha_pattern",
                          fmt::format("\"{}\": {}", pattern.substr(0, 80),
                                      plain ? "is not a number" : "patterns are not supported; name modules in full"));
      }
    }
  }

  /// Assigns a tensor of the adapter to its module.
  void sort(const std::string& name) {
    std::string rest = name;
    for (const std::string_view prefix : {"base_model.model.", "base_model."}) {
      if (starts_with(rest, prefix)) {
        rest.erase(0, prefix.size());
        break;
      }
    }
    const auto take = [&](std::string_view suffix, std::string LoraModule::*field, bool embedding = false) {
      std::string module = rest;
      if (!remove_suffix(&module, suffix)) return false;
      LoraModule& found = modules_[module];
      found.*field = name;
      found.embedding = found.embedding || embedding;
      return true;
    };
    if (take(".lora_A.weight", &LoraModule::a) || take(".lora_B.weight", &LoraModule::b) ||
        take(".lora_B.bias", &LoraModule::bias) || take(".lora_magnitude_vector", &LoraModule::magnitude) ||
        take(".lora_magnitude_vector.weight", &LoraModule::magnitude) ||
        take(".lora_embedding_A", &LoraModule::a, true) || take(".lora_embedding_B", &LoraModule::b, true)) {
      return;
    }
    if (includes(rest, "lora_")) {
      return problem(ExitCode::kUnsupported, name, fmt::format("has no place in LoRA; {}", kMergeFirst));
    }
    for (const std::string_view part : {".base_layer.", ".modules_to_save."}) {
      const size_t at = rest.find(part);
      if (at != std::string::npos) rest.erase(at, part.size() - 1);
    }
    replaced_[rest] = name;
  }

  /// The model's tensor called `wanted`, with or without the base model's prefix: adapters and models are saved from
  /// classes with and without a head.
  std::optional<std::string> find(const std::string& wanted) const {
    const auto& tensors = checkpoint_->tensors();
    if (tensors.count(wanted) != 0) return wanted;
    std::vector<std::string> found;
    for (const auto& [name, entry] : tensors) {
      if (ends_with(name, "." + wanted) || ends_with(wanted, "." + name)) found.push_back(name);
    }
    if (found.size() != 1) return std::nullopt;
    return found.front();
  }

  std::vector<float> values(const std::string& name) {
    try {
      return adapter_->read(name);
    } catch (const Error& error) {
      for (const std::string& what : error.problems()) problems_.add(error.code(), what);
      return {};
    }
  }

  Matrix matrix(const std::string& name) {
    const std::vector<uint64_t>& shape = adapter_->tensors().at(name).shape;
    if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0) {
      problem(ExitCode::kUnsupported, name, "is not a matrix; adapters of linear layers and embeddings are merged");
      return {};
    }
    Matrix out{static_cast<size_t>(shape[0]), static_cast<size_t>(shape[1]), values(name)};
    return out.values.empty() ? Matrix{} : out;
  }

  void replace(const std::string& target, const std::string& name) {
    const std::string place = find(target).value_or(target);
    refuse_tied(place, name);
    std::vector<float> numbers = values(name);
    if (!numbers.empty()) checkpoint_->put(place, {adapter_->tensors().at(name).shape, std::move(numbers)});
  }

  /// PEFT changes only the embeddings; the output layer, which has the same values, stays unchanged.
  void refuse_tied(const std::string& place, const std::string& name) {
    const bool embedding =
        includes(place, "embed") || ends_with(place, "shared.weight") || ends_with(place, "wte.weight");
    if (!embedding || !gives_words() || includes(place, "position")) return;
    for (const char* head : {"lm_head.weight", "embed_out.weight", "cls.predictions.decoder.weight"}) {
      if (checkpoint_->tensors().count(head) != 0) return;
    }
    problem(ExitCode::kUnsupported, name,
            fmt::format("changes embeddings that the scores of words share; {}", kMergeFirst));
  }

  bool gives_words() const {
    const auto classes = config_.find("architectures");
    if (classes == config_.end() || !classes->is_array()) return false;
    return std::any_of(classes->begin(), classes->end(), [](const Json& name) {
      if (!name.is_string()) return false;
      const auto text = name.get<std::string>();
      return ends_with(text, "LMHeadModel") || ends_with(text, "ForCausalLM") ||
             ends_with(text, "ForConditionalGeneration") || ends_with(text, "ForMaskedLM");
    });
  }

  double alpha_of(const std::string& module) const {
    for (const auto& [pattern, alpha] : alphas_) {
      if (module == pattern || ends_with(module, "." + pattern)) return alpha;
    }
    return alpha_;
  }

  void add(const std::string& target, const LoraModule& module) {
    const std::string& any = module.a.empty() ? (module.b.empty() ? module.bias : module.b) : module.a;
    const std::string named = any.empty() ? module.magnitude : any;
    if (module.a.empty() || module.b.empty())
      return problem(ExitCode::kInvalid, named, "has no other half, lora_A or lora_B");
    if (dora_ == module.magnitude.empty() || (dora_ && module.embedding)) {
      return problem(ExitCode::kUnsupported, named,
                     dora_ ? "DoRA is merged into linear layers with a lora_magnitude_vector each"
                           : "has a lora_magnitude_vector, but use_dora is false");
    }
    const auto place = find(target + ".weight");
    if (!place) {
      return problem(ExitCode::kUnsupported, named,
                     fmt::format("the model has no tensor \"{}.weight\"; is this its adapter?", target));
    }
    if (module.embedding) refuse_tied(*place, named);
    const Matrix a = matrix(module.a), b = matrix(module.b);
    if (a.rows == 0 || b.rows == 0) return;
    if (a.rows != b.columns) {
      return problem(ExitCode::kInvalid, named, fmt::format("its rank is {}, that of lora_B {}", a.rows, b.columns));
    }
    const double rank = static_cast<double>(a.rows);
    const auto scale = static_cast<float>(alpha_of(target) / (stable_ ? std::sqrt(rank) : rank));
    const std::vector<uint64_t> shape = checkpoint_->tensors().at(*place).stored->shape;
    const std::vector<uint64_t> straight = {b.rows, a.columns}, by_input = {a.columns, b.rows};
    // The setting applies to all layers, but PEFT ignores it for layers with one row per output.
    const bool turns = module.embedding || (straight == by_input ? turned_ : shape == by_input);
    if (shape != (turns ? by_input : straight)) {
      return problem(
          ExitCode::kInvalid, named,
          fmt::format("changes a matrix of [{}, {}], but \"{}\" has another shape", b.rows, a.columns, *place));
    }
    std::vector<float> magnitude;
    if (dora_) magnitude = values(module.magnitude);
    if (dora_ && magnitude.size() != b.rows) {
      return problem(ExitCode::kInvalid, module.magnitude, fmt::format("does not hold {} numbers", b.rows));
    }
    checkpoint_->change(*place, [a, b, scale, turns, magnitude](std::vector<float>* weight) {
      const Matrix delta = product(b, a);
      Matrix changed{delta.rows, delta.columns, std::move(*weight)};
      if (turns) changed.values = turned(changed.values, delta.columns);
      for (size_t i = 0; i < changed.values.size(); ++i) changed.values[i] += scale * delta.values[i];
      for (size_t row = 0; row < magnitude.size(); ++row) {
        float* values = changed.values.data() + row * changed.columns;
        double squares = 0;
        for (size_t i = 0; i < changed.columns; ++i) squares += double{values[i]} * double{values[i]};
        const auto factor = static_cast<float>(squares == 0 ? 0 : double{magnitude[row]} / std::sqrt(squares));
        for (size_t i = 0; i < changed.columns; ++i) values[i] *= factor;
      }
      *weight = turns ? turned(changed.values, changed.rows) : std::move(changed.values);
    });
    if (!module.bias.empty()) add_bias(target, module.bias, scale, b.rows);
  }

  void add_bias(const std::string& target, const std::string& name, float scale, size_t count) {
    const auto place = find(target + ".bias");
    const std::vector<float> bias = values(name);
    if (!place || bias.size() != count || checkpoint_->tensors().at(*place).stored->elements != count) {
      return problem(ExitCode::kUnsupported, name,
                     fmt::format("the model has no \"{}.bias\" of {} numbers", target, count));
    }
    checkpoint_->change(*place, [bias, scale](std::vector<float>* values) {
      for (size_t i = 0; i < values->size(); ++i) (*values)[i] += scale * bias[i];
    });
  }

  Problems problems_;
  std::string settings_name_;
  Fields settings_;
  const Json& config_;
  Checkpoint* checkpoint_;
  std::shared_ptr<const WeightFile> adapter_;
  double alpha_ = 8;
  bool stable_ = false, dora_ = false, turned_ = false;
  std::vector<std::pair<std::string, double>> alphas_;  // by module name or its suffix
  std::map<std::string, LoraModule> modules_;           // by module name
  std::map<std::string, std::string> replaced_;         // the model's tensor: the adapter's tensor
};

}  // namespace

std::filesystem::path merge_adapter(const Directory& files, const std::string& folder, const Json& config,
                                    Checkpoint* checkpoint) {
  return Merger(files, folder, config, checkpoint).merge();
}

std::string lonely_adapter(const Directory& files, const std::string& folder) {
  std::string base = "its model";
  try {
    const Json& settings = files.object(name_in(folder, kAdapterSettings));
    const auto name = settings.find("base_model_name_or_path");
    if (name != settings.end() && name->is_string()) base = name->get<std::string>().substr(0, 80);
  } catch (const Error&) {
    // Only the name of its model is needed.
  }
  return fmt::format(
      "it holds a PEFT adapter of {}; put config.json, the weights and the tokenizer of that model beside "
      "{}, and bantam merges the two",
      base, kAdapterSettings);
}

}  // namespace bantam::convert
