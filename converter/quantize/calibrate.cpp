#include "quantize/calibrate.h"

#include <algorithm>
#include <cmath>

#include "pack/access.h"

namespace bantam::convert {
namespace {

/// `graph` with the named activations as outputs of their own names, after the model's outputs.
Graph with_outputs(const Graph& graph, const std::vector<std::string>& names) {
  Graph open = clone(graph);
  std::vector<bool> is_output(open.model.tensors.size(), false);
  for (const auto& output : open.model.outputs) is_output[static_cast<size_t>(output->tensor)] = true;
  for (size_t i = 0; i < open.model.tensors.size(); ++i) {
    fb::TensorT& tensor = *open.model.tensors[i];
    if (is_output[i] || std::find(names.begin(), names.end(), tensor.name) == names.end()) continue;
    tensor.role = fb::Role::output;
    auto output = std::make_unique<fb::OutputT>();
    output->name = tensor.name;
    output->tensor = static_cast<int32_t>(i);
    output->debug = true;
    open.model.outputs.push_back(std::move(output));
  }
  return open;
}

}  // namespace

ColumnMaxima calibrate(const Graph& graph, uint32_t max_tokens,
                       const std::function<std::vector<Sample>(Runner&)>& choose,
                       const std::function<void(double)>& progress) {
  ColumnMaxima maxima;
  const std::vector<std::string> names = migratable(graph);
  if (names.empty()) return maxima;
  TypeOptions exact;
  exact.weights = fb::DType::f32;
  const FileBytes bytes = build(with_outputs(graph, names), exact);
  Runner runner(bytes, max_tokens);
  const std::vector<Sample> samples = choose(runner);
  for (size_t i = 0; i < samples.size(); ++i) {
    for (const OutputRows& output : runner.run(samples[i])) {
      if (std::find(names.begin(), names.end(), output.name) == names.end()) continue;
      std::vector<float>& largest = maxima[output.name];
      largest.resize(output.width, 0.0f);
      for (size_t v = 0; v < output.values.size(); ++v) {
        float& column = largest[v % output.width];
        column = std::max(column, std::fabs(output.values[v]));
      }
    }
    progress(static_cast<double>(i + 1) / static_cast<double>(samples.size()));
  }
  return maxima;
}

}  // namespace bantam::convert
