#include "calibrate/ranges.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "graph/access.h"
#include "model/limits.h"
#include "model/task_traits.h"

namespace bantam::convert {
namespace {

/// Returns `graph` with the named activations as outputs of the same names, after the model's outputs.
Graph with_outputs(const Graph& graph, const std::set<std::string>& names) {
  Graph open = clone(graph);
  const std::vector<int32_t> producer = producers(open);
  std::vector<bool> is_output(open.model.tensors.size(), false);
  for (const auto& output : open.model.outputs) is_output[static_cast<size_t>(output->tensor)] = true;
  for (size_t i = 0; i < open.model.tensors.size(); ++i) {
    fb::TensorT& tensor = *open.model.tensors[i];
    if (is_output[i] || open.constants[i] || names.count(tensor.name) == 0) continue;
    tensor.role = fb::Role::output;
    auto output = std::make_unique<fb::OutputT>();
    output->name = tensor.name;
    output->tensor = static_cast<int32_t>(i);
    output->debug = true;
    if (producer[i] >= 0) output->phase = phase_of(*main_subgraph(open).ops[static_cast<size_t>(producer[i])]);
    open.model.outputs.push_back(std::move(output));
  }
  return open;
}

/// Removes the model's own outputs and the operators that only they need from a decoder without sources: its layer of
/// words takes the most memory and a large part of the time, and nobody reads its scores. Other models keep theirs,
/// which samples may be made with.
void drop_scores(Graph& graph) {
  auto& ops = main_subgraph(graph).ops;
  const bool sources =
      std::any_of(ops.begin(), ops.end(), [](const auto& op) { return phase_of(*op) == fb::Phase::source; });
  const bool plain = graph.model.task != nullptr && has_part(graph.model.task->kind, kNextWordsPart) && !sources &&
                     graph.model.chunk == 0;
  if (!plain) return;
  auto& outputs = graph.model.outputs;
  for (auto& output : outputs) {
    if (!output->debug) graph.model.tensors[static_cast<size_t>(output->tensor)]->role = fb::Role::activation;
  }
  outputs.erase(std::remove_if(outputs.begin(), outputs.end(), [](const auto& output) { return !output->debug; }),
                outputs.end());
  graph.model.task = nullptr;
  std::set<int32_t> read;
  for (const auto& output : outputs) read.insert(output->tensor);
  for (size_t i = ops.size(); i-- > 0;) {
    const auto& made = ops[i]->outputs;
    const bool needed =
        std::any_of(made.begin(), made.end(), [&](int32_t tensor) { return tensor >= 0 && read.count(tensor) != 0; });
    if (needed) {
      read.insert(ops[i]->inputs.begin(), ops[i]->inputs.end());
    } else {
      ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  remove_unused_tensors(graph);
}

}  // namespace

void visit_activations(const Graph& graph, const std::vector<std::string>& names, uint32_t max_tokens,
                       const std::function<std::vector<Sample>(Runner&)>& choose,
                       const std::function<void(const std::string& name, const OutputRows& rows)>& visit,
                       const std::function<void(double)>& progress) {
  if (names.empty()) return;
  TypeOptions exact;
  exact.weights = fb::DType::f32;
  // The number of outputs of a file is limited; deep models are run once for each group of activations.
  const size_t most = kMaxOutputs - std::min<size_t>(graph.model.outputs.size(), kMaxOutputs - 1);
  const size_t groups = (names.size() + most - 1) / most;
  std::vector<Sample> samples;
  for (size_t group = 0; group < groups; ++group) {
    const auto first = names.begin() + static_cast<std::ptrdiff_t>(group * most);
    const std::set<std::string> wanted(
        first, first + static_cast<std::ptrdiff_t>(std::min(most, names.size() - group * most)));
    Graph open = with_outputs(graph, wanted);
    drop_scores(open);
    const FileBytes bytes = build(open, exact, DataSection::In::kScratch);
    // The model's own outputs may have names that differ from their tensors' names.
    std::vector<std::string> tensors;
    for (const auto& output : open.model.outputs) tensors.push_back(tensor(open, output->tensor).name);
    Runner runner(bytes, max_tokens);
    if (group == 0) samples = choose(runner);
    for (size_t i = 0; i < samples.size(); ++i) {
      const std::vector<OutputRows> outputs = runner.run(samples[i]);
      for (size_t o = 0; o < outputs.size(); ++o) {
        // A pass that a short text does not need returns no rows.
        if (outputs[o].rows != 0 && wanted.count(tensors[o]) != 0) visit(tensors[o], outputs[o]);
      }
      progress(static_cast<double>(group * samples.size() + i + 1) / static_cast<double>(groups * samples.size()));
    }
  }
}

void widen(const OutputRows& rows, ColumnRange* range) {
  if (range->low.empty()) {
    range->low.assign(rows.values.data(), rows.values.data() + rows.width);
    range->high = range->low;
  }
  for (size_t i = 0; i < rows.values.size(); ++i) {
    float& low = range->low[i % rows.width];
    float& high = range->high[i % rows.width];
    low = std::min(low, rows.values[i]);
    high = std::max(high, rows.values[i]);
  }
}

Ranges measure_ranges(const Graph& graph, const std::vector<std::string>& names, uint32_t max_tokens,
                      const std::function<std::vector<Sample>(Runner&)>& choose,
                      const std::function<void(double)>& progress) {
  Ranges ranges;
  const auto visit = [&](const std::string& name, const OutputRows& rows) { widen(rows, &ranges[name]); };
  visit_activations(graph, names, max_tokens, choose, visit, progress);
  return ranges;
}

}  // namespace bantam::convert
