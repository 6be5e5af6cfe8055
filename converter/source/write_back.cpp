#include "source/write_back.h"

#include <algorithm>
#include <optional>

#include "source/weights.h"

namespace bantam::convert {
namespace {

/// Returns the stored tensors whose concatenated values are `values`.
std::optional<std::vector<StoredPart>> parts_of(const std::vector<float>& values,
                                                const std::vector<std::string>& sources, const Checkpoint& checkpoint) {
  std::vector<StoredPart> parts;
  auto next = values.begin();
  for (size_t i = 0; i < sources.size(); ++i) {
    // The first of several parts of one tensor stands for the whole tensor.
    if (i > 0 && sources[i] == sources[i - 1]) continue;
    const auto found = checkpoint.tensors().find(sources[i]);
    if (found == checkpoint.tensors().end()) return std::nullopt;
    const StoredTensor& stored = *found->second.stored;
    if (stored.elements > static_cast<uint64_t>(values.end() - next)) return std::nullopt;
    const std::vector<float> tensor = checkpoint.read(sources[i]);
    StoredPart part{sources[i], false};
    if (!std::equal(tensor.begin(), tensor.end(), next)) {
      if (stored.shape.size() != 2) return std::nullopt;
      part.turned = true;
      const std::vector<float> columns = turned(tensor, static_cast<size_t>(stored.shape[0]));
      if (!std::equal(columns.begin(), columns.end(), next)) return std::nullopt;
    }
    next += static_cast<std::ptrdiff_t>(stored.elements);
    parts.push_back(std::move(part));
  }
  if (next != values.end()) return std::nullopt;
  return parts;
}

/// Returns a table whose first or last rows the graph holds.
std::optional<StoredPart> rows_of(const std::vector<float>& values, const std::string& source,
                                  const Checkpoint& checkpoint) {
  const auto found = checkpoint.tensors().find(source);
  if (found == checkpoint.tensors().end() || found->second.stored->elements < values.size()) return std::nullopt;
  const std::vector<float> table = checkpoint.read(source);
  for (const size_t first : {size_t{0}, table.size() - values.size()}) {
    if (std::equal(values.begin(), values.end(), table.begin() + static_cast<std::ptrdiff_t>(first))) {
      return StoredPart{source, false, first};
    }
  }
  return std::nullopt;
}

/// Returns a table whose rows are each the sum of a stored row and another tensor of the directory, or nothing: patch
/// positions plus the bias of patches or the class embedding.
std::optional<StoredPart> sum_of(const std::vector<float>& values, const std::vector<std::string>& sources,
                                 const Checkpoint& checkpoint) {
  const auto found = checkpoint.tensors().find(sources.front());
  if (found == checkpoint.tensors().end() || found->second.stored->elements != values.size()) return std::nullopt;
  if (found->second.stored->shape.empty()) return std::nullopt;
  const auto width = static_cast<size_t>(found->second.stored->shape.back());
  const std::vector<float> table = checkpoint.read(sources.front());
  std::vector<std::vector<float>> added = {std::vector<float>(width)};
  for (size_t i = 1; i < sources.size(); ++i) {
    const auto other = checkpoint.tensors().find(sources[i]);
    if (other == checkpoint.tensors().end() || other->second.stored->elements != width) return std::nullopt;
    added.push_back(checkpoint.read(sources[i]));
  }
  StoredPart part{sources.front()};
  for (size_t row = 0; row < values.size(); row += width) {
    const auto makes_it = [&](const std::vector<float>& vector) {
      for (size_t i = 0; i < width; ++i) {
        if (table[row + i] + vector[i] != values[row + i]) return false;
      }
      return true;
    };
    const auto vector = std::find_if(added.begin(), added.end(), makes_it);
    if (vector == added.end()) return std::nullopt;
    part.beside.insert(part.beside.end(), vector->begin(), vector->end());
  }
  return part;
}

std::vector<std::string> without(const Graph& graph, const WaysBack& ways, bool weights) {
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    const Constant* constant = graph.constants[i].get();
    if (constant == nullptr || graph.model.tensors[i]->source.empty()) continue;
    const bool weight = constant->linear_weight || constant->embedding;
    if (weight == weights && ways.count(static_cast<int32_t>(i)) == 0) names.push_back(graph.model.tensors[i]->name);
  }
  return names;
}

}  // namespace

WaysBack ways_back(const Graph& graph, const Checkpoint& checkpoint) {
  WaysBack ways;
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    const std::vector<std::string>& sources = graph.model.tensors[i]->source;
    if (graph.constants[i] == nullptr || sources.empty()) continue;
    auto parts = parts_of(graph.constants[i]->values, sources, checkpoint);
    if (!parts && graph.constants[i]->embedding && sources.size() == 1) {
      if (auto rows = rows_of(graph.constants[i]->values, sources.front(), checkpoint)) parts.emplace(1, *rows);
    }
    if (!parts && sources.size() > 1) {
      if (auto sum = sum_of(graph.constants[i]->values, sources, checkpoint)) parts.emplace(1, std::move(*sum));
    }
    if (parts) ways.emplace(static_cast<int32_t>(i), std::move(*parts));
  }
  return ways;
}

std::vector<std::string> not_written_back(const Graph& graph, const WaysBack& ways) {
  return without(graph, ways, true);
}

std::vector<std::string> held(const Graph& graph, const WaysBack& ways) { return without(graph, ways, false); }

}  // namespace bantam::convert
