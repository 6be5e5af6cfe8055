#include "train/state.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/output_file.h"
#include "source/safetensors.h"
#include "source/safetensors_writer.h"

namespace bantam::train {
namespace {

using convert::Error;
using convert::ExitCode;
using Json = nlohmann::json;
using torch::optim::AdamWParamState;

std::string key_of(const at::Tensor& parameter) { return c10::guts::to_string(parameter.unsafeGetTensorImpl()); }

/// The tensors of a state by name, in both directions: `put` writes, and `take` reads.
class Writer {
 public:
  void put(const std::string& name, const at::Tensor& value) {
    const at::Tensor flat = value.detach().contiguous();
    std::vector<uint64_t> shape;
    for (const int64_t extent : flat.sizes()) shape.push_back(static_cast<uint64_t>(extent));
    const float* begin = flat.data_ptr<float>();
    tensors[name] = convert::tensor_bytes(shape, std::vector<float>(begin, begin + flat.numel()));
  }
  void put(const std::string& group, const std::vector<at::Tensor>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].defined()) put(fmt::format("{}.{}", group, i), values[i]);
    }
  }
  std::map<std::string, convert::TensorBytes> tensors;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {}

  bool has(const std::string& name) const { return file_.tensors().count(name) != 0; }

  /// Returns the values of `name` in the shape of `like`.
  at::Tensor take(const std::string& name, const at::Tensor& like) const {
    if (!has(name) || file_.tensors().at(name).elements != static_cast<uint64_t>(like.numel())) damaged(name);
    const std::vector<float> values = file_.read(name);
    at::Tensor out = torch::empty(like.sizes(), torch::kFloat32);
    std::memcpy(out.data_ptr<float>(), values.data(), values.size() * sizeof(float));
    return out;
  }

  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(ExitCode::kInvalid, fmt::format("{}: {} is missing or of another size; remove the file to begin anew",
                                                file_.path().string(), what));
  }

  const std::map<std::string, std::string>& metadata() const { return file_.metadata(); }

 private:
  convert::Safetensors file_;
};

Json named(const Named& values) {
  Json list = Json::array();
  for (const auto& [name, value] : values) list.push_back({name, value});
  return list;
}

Named named(const Json& list) {
  Named values;
  for (const Json& item : list) values.emplace_back(item.at(0).get<std::string>(), item.at(1).get<double>());
  return values;
}

}  // namespace

at::Tensor mean_square_gradient(const State& state, size_t i) {
  const auto found = state.optimizer->state().find(key_of(state.values[i]));
  if (found == state.optimizer->state().end()) return {};
  return static_cast<const AdamWParamState&>(*found->second).exp_avg_sq();
}

void save_state(const State& state, const std::filesystem::path& file, const std::string& fingerprint) {
  convert::OutputFile output(file);
  Writer writer;
  writer.put("value", state.values);
  writer.put("average", state.average);
  writer.put("best", state.best);
  writer.put("mask", state.masks);
  Json steps = Json::object();
  for (size_t i = 0; i < state.values.size(); ++i) {
    const auto found = state.optimizer->state().find(key_of(state.values[i]));
    if (found == state.optimizer->state().end()) continue;
    const auto& adam = static_cast<const AdamWParamState&>(*found->second);
    writer.put(fmt::format("first_moment.{}", i), adam.exp_avg());
    writer.put(fmt::format("second_moment.{}", i), adam.exp_avg_sq());
    steps[fmt::format("{}", i)] = adam.step();
  }
  const Json record = {{"step", state.step},
                       {"optimizer_steps", steps},
                       {"best_epoch", state.best_epoch},
                       {"best_primary", state.best_scores.primary},
                       {"best_scores", named(state.best_scores.all)},
                       {"worse", state.worse},
                       {"sums", named(state.sums)},
                       {"summed", state.summed},
                       {"curve", to_json(state.curve)}};
  const std::string bytes =
      convert::safetensors_file(writer.tensors, {{"fingerprint", fingerprint}, {"state", record.dump()}});
  output.commit(bytes.data(), bytes.size());
}

void load_state(const std::filesystem::path& file, const std::string& fingerprint, State* state) {
  const Reader reader(file);
  const auto found = reader.metadata().find("fingerprint");
  if (found == reader.metadata().end() || reader.metadata().count("state") == 0) reader.damaged("its description");
  if (found->second != fingerprint) {
    throw Error(
        ExitCode::kUsage,
        fmt::format("{}: belongs to a run with other settings or data; repeat those to go on with it, remove it "
                    "to begin anew, or choose another -o",
                    file.string()));
  }
  try {
    const Json record = convert::parse_json(reader.metadata().at("state"), file.string());
    const at::NoGradGuard guard;
    for (size_t i = 0; i < state->values.size(); ++i) {
      at::Tensor& value = state->values[i];
      value.copy_(reader.take(fmt::format("value.{}", i), value));
      const std::string number = fmt::format("{}", i);
      if (!record.at("optimizer_steps").contains(number)) continue;
      auto adam = std::make_unique<AdamWParamState>();
      adam->step(record.at("optimizer_steps").at(number).get<int64_t>());
      adam->exp_avg(reader.take("first_moment." + number, value));
      adam->exp_avg_sq(reader.take("second_moment." + number, value));
      state->optimizer->state()[key_of(value)] = std::move(adam);
    }
    for (size_t i = 0; i < state->average.size(); ++i) {
      state->average[i] = reader.take(fmt::format("average.{}", i), state->average[i]);
    }
    for (size_t i = 0; i < state->masks.size(); ++i) {
      const std::string name = fmt::format("mask.{}", i);
      if (reader.has(name)) state->masks[i] = reader.take(name, state->values[i]);
    }
    state->best.clear();
    for (size_t i = 0; i < state->masks.size() && reader.has("best.0"); ++i) {
      state->best.push_back(reader.take(fmt::format("best.{}", i), state->values[i]));
    }
    state->step = record.at("step").get<uint64_t>();
    state->best_epoch = record.at("best_epoch").get<uint32_t>();
    state->best_scores.primary = record.at("best_primary").get<double>();
    state->best_scores.all = named(record.at("best_scores"));
    state->worse = record.at("worse").get<uint32_t>();
    state->sums = named(record.at("sums"));
    state->summed = record.at("summed").get<uint64_t>();
    state->curve = curve_from_json(record.at("curve"));
  } catch (const Json::exception&) {
    reader.damaged("a number of its description");
  }
}

}  // namespace bantam::train
