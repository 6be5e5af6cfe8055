#include "calibrate/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/json_file.h"
#include "graph/access.h"
#include "graph/tensor_classes.h"
#include "pack/build.h"
#include "pack/lower.h"
#include "score/compare.h"
#include "score/scores.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMeasuredTokens = 256;
constexpr const char* kSchema = "bantam.sensitivity/1";

/// The number of elements of each matrix by name; tied matrices count once.
std::map<std::string, uint64_t> matrices(const Graph& graph) {
  Graph merged = clone(graph);
  merge_tied(merged);
  std::map<std::string, uint64_t> elements;
  for (size_t i = 0; i < merged.constants.size(); ++i) {
    const fb::TensorT& tensor = *merged.model.tensors[i];
    if (is_weight_matrix(merged, i)) elements[tensor.name] = rows(tensor) * width(tensor);
  }
  return elements;
}

class Measurement {
 public:
  Measurement(const Graph& graph, const std::vector<LabelledText>& texts) : graph_(graph) {
    const Built exact = build_with({});
    result_.file_bytes = exact.bytes.size();
    merged_ = clone(exact.graph);
    Runner runner(exact.bytes, tokens());
    if (!runner.model().has_tokenizer()) {
      throw Error(ExitCode::kInvalid,
                  "the model has no tokenizer, so that no texts can be run; add tokenizer.json or vocab.txt");
    }
    labels_ = label_numbers(graph.model, texts);
    for (const LabelledText& text : texts) samples_.push_back(runner.encode(text.text, text.second));
    for (const Sample& sample : samples_) reference_.push_back(runner.run(sample));
    const LabelScores scores = score_labels(graph.model, reference_, labels_);
    result_.texts = texts.size();
    result_.has_loss = scores.count > 0;
    result_.loss = scores.loss;
    result_.accuracy = scores.accuracy;
  }

  Sensitivity run(const std::vector<fb::DType>& types, const std::function<void(double)>& progress) {
    const std::vector<std::string> kinds = tensor_classes(merged_);
    struct Job {
      size_t matrix;
      fb::DType type;
    };
    std::vector<Job> jobs;
    for (size_t i = 0; i < merged_.constants.size(); ++i) {
      const fb::TensorT& tensor = *merged_.model.tensors[i];
      if (!is_weight_matrix(merged_, i)) continue;
      MatrixCosts costs;
      costs.name = tensor.name;
      costs.kind = kinds[i];
      costs.elements = rows(tensor) * width(tensor);
      costs.multiplies = merged_.constants[i]->linear_weight;
      for (const fb::DType type : types) {
        if (type == fb::DType::i4 && (merged_.constants[i]->embedding || !costs.multiplies)) continue;
        jobs.push_back({result_.matrices.size(), type});
      }
      result_.matrices.push_back(std::move(costs));
    }
    for (size_t i = 0; i < jobs.size(); ++i) {
      MatrixCosts& costs = result_.matrices[jobs[i].matrix];
      costs.types.push_back(measure(costs.name, jobs[i].type));
      progress(static_cast<double>(i + 1) / static_cast<double>(jobs.size()));
    }
    return std::move(result_);
  }

 private:
  uint32_t tokens() const {
    return graph_.model.max_sequence == 0 ? kMeasuredTokens : std::min(graph_.model.max_sequence, kMeasuredTokens);
  }

  Built build_with(std::vector<Keep> keep) const {
    TypeOptions options;
    options.weights = fb::DType::f32;
    options.keep = std::move(keep);
    return build_model(graph_, options);
  }

  TypeCost measure(const std::string& name, fb::DType type) {
    const Built built = build_with({{exactly(name), type}});
    Runner runner(built.bytes, tokens());
    Comparer comparer(graph_.model, "f32");
    std::vector<std::vector<OutputRows>> outputs;
    for (size_t i = 0; i < samples_.size(); ++i) {
      outputs.push_back(runner.run(samples_[i]));
      comparer.add(samples_[i], reference_[i], outputs.back());
    }
    TypeCost cost;
    cost.type = type;
    cost.saved = result_.file_bytes - std::min<uint64_t>(result_.file_bytes, built.bytes.size());
    cost.divergence = comparer.result().divergence();
    result_.decisions = 0;
    for (const OutputComparison& output : comparer.result().outputs) {
      cost.flips += output.flips;
      result_.decisions += output.decisions;
    }
    if (result_.has_loss) cost.loss = score_labels(graph_.model, outputs, labels_).loss - result_.loss;
    return cost;
  }

  const Graph& graph_;
  Graph merged_;
  std::vector<Sample> samples_;
  std::vector<int64_t> labels_;
  std::vector<std::vector<OutputRows>> reference_;
  Sensitivity result_;
};

}  // namespace

std::string exactly(const std::string& name) {
  std::string pattern = "^";
  for (const char c : name) {
    if (std::string_view(".*+?()[]{}|^$\\/").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern + "$";
}

Sensitivity measure_sensitivity(const Graph& graph, const std::vector<LabelledText>& texts,
                                const std::vector<fb::DType>& types, const std::function<void(double)>& progress) {
  return Measurement(graph, texts).run(types, progress);
}

std::string sensitivity_json(const Sensitivity& measured) {
  Json json = {{"schema", kSchema},
               {"model", measured.model},
               {"data", measured.data},
               {"data_sha256", measured.data_sha256},
               {"texts", measured.texts},
               {"decisions", measured.decisions},
               {"file_bytes", measured.file_bytes},
               {"loss", measured.has_loss ? Json(measured.loss) : Json(nullptr)},
               {"accuracy", measured.has_loss ? Json(measured.accuracy) : Json(nullptr)},
               {"matrices", Json::array()}};
  for (const MatrixCosts& matrix : measured.matrices) {
    Json entry = {{"name", matrix.name},
                  {"kind", matrix.kind},
                  {"elements", matrix.elements},
                  {"multiplies", matrix.multiplies},
                  {"types", Json::array()}};
    for (const TypeCost& cost : matrix.types) {
      entry["types"].push_back({{"type", type_name(cost.type)},
                                {"bytes_saved", cost.saved},
                                {"divergence", cost.divergence},
                                {"loss", measured.has_loss ? Json(cost.loss) : Json(nullptr)},
                                {"label_flips", cost.flips}});
    }
    json["matrices"].push_back(std::move(entry));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Sensitivity read_sensitivity(const std::filesystem::path& file) {
  const Json json = read_json_object(file);
  const auto refuse = [&](const std::string& what) {
    throw Error(ExitCode::kInvalid,
                fmt::format("--sensitivity {}: {}; make it with bantam sensitivity", file.string(), what));
  };
  if (!json.contains("schema") || json["schema"] != kSchema) refuse(fmt::format("\"schema\" is not \"{}\"", kSchema));
  // Do not convert numbers that are not integers: 1.8e19 does not fit uint64_t.
  const auto whole = [&](const Json& object, const char* field) {
    const Json& value = object.at(field);
    if (!value.is_number_unsigned()) refuse(fmt::format("\"{}\" is not a whole number", field));
    return value.get<uint64_t>();
  };
  Sensitivity out;
  try {
    out.file_bytes = whole(json, "file_bytes");
    out.texts = whole(json, "texts");
    if (json.contains("data")) out.data = json.at("data").get<std::string>();
    if (json.contains("data_sha256")) out.data_sha256 = json.at("data_sha256").get<std::string>();
    for (const Json& entry : json.at("matrices")) {
      MatrixCosts matrix;
      matrix.name = entry.at("name").get<std::string>();
      matrix.elements = whole(entry, "elements");
      matrix.multiplies = entry.at("multiplies").get<bool>();
      for (const Json& type : entry.at("types")) {
        TypeCost cost;
        const std::string name = type.at("type").get<std::string>();
        const std::optional<fb::DType> known = find_type(name);
        if (!known) refuse(fmt::format("{}: type \"{}\" is not known", matrix.name, name));
        cost.type = *known;
        cost.saved = whole(type, "bytes_saved");
        cost.divergence = type.at("divergence").get<double>();
        if (cost.saved > out.file_bytes || !std::isfinite(cost.divergence))
          refuse(matrix.name + ": costs that cannot be");
        matrix.types.push_back(cost);
      }
      out.matrices.push_back(std::move(matrix));
    }
  } catch (const Json::exception&) {
    refuse("a field is missing or has another type");
  }
  return out;
}

Sensitivity fitted(Sensitivity measured, const Graph& graph) {
  const std::map<std::string, uint64_t> now = matrices(graph);
  for (MatrixCosts& matrix : measured.matrices) {
    const auto found = now.find(matrix.name);
    if (found == now.end() || found->second >= matrix.elements) continue;
    const double share = static_cast<double>(found->second) / static_cast<double>(matrix.elements);
    measured.file_bytes -= std::min(measured.file_bytes, (matrix.elements - found->second) * sizeof(float));
    matrix.elements = found->second;
    for (TypeCost& cost : matrix.types) cost.saved = static_cast<uint64_t>(share * static_cast<double>(cost.saved));
  }
  return measured;
}

std::vector<Keep> choice_as_keeps(const Graph& graph, const Sensitivity& measured, const Choice& choice) {
  std::map<std::string, uint64_t> names = matrices(graph);
  std::vector<Keep> keeps;
  for (size_t i = 0; i < measured.matrices.size(); ++i) {
    const std::string& name = measured.matrices[i].name;
    if (names.erase(name) == 0) {
      throw Error(ExitCode::kInvalid, fmt::format("--sensitivity: {} is not in this model; measure this one", name));
    }
    keeps.push_back({exactly(name), choice.types[i]});
  }
  if (!names.empty()) {
    throw Error(ExitCode::kInvalid,
                fmt::format("--sensitivity: {} was not measured; measure this model", names.begin()->first));
  }
  return keeps;
}

}  // namespace bantam::convert
