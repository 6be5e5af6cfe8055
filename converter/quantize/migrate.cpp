#include "quantize/migrate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "graph/access.h"
#include "graph/rows.h"

namespace bantam::convert {
namespace {

bool ends_in_norm(const fb::OpT& op) { return op.epilogue && op.epilogue->norm != fb::NormKind::none; }

/// Constants that an Embed looks up, whose rows must not change.
std::set<const Constant*> looked_up(const Graph& graph) {
  std::set<const Constant*> tables;
  for (const auto& op : main_subgraph(graph).ops) {
    for (const int32_t table : tables_of(*op)) tables.insert(graph.constants[static_cast<size_t>(table)].get());
  }
  return tables;
}

/// Linear ops that read activation `x`.
std::vector<const fb::OpT*> linear_readers(const Graph& graph, int32_t x) {
  std::vector<const fb::OpT*> readers;
  for (const auto& op : main_subgraph(graph).ops) {
    if (op->attributes.type == fb::OpAttributes::Linear && op->inputs[0] == x) readers.push_back(op.get());
  }
  return readers;
}

/// Returns true if anything other than linear layers, whose weights can hold the inverse, reads activation `x`, such as
/// a residual or pooling.
bool feeds_more_than_layers(const Graph& graph, int32_t x) {
  bool found = false;
  for (const auto& op : main_subgraph(graph).ops) {
    const bool layer = op->attributes.type == fb::OpAttributes::Linear;
    for_each_read(*op, [&](int32_t t) { found = found || (t == x && !(layer && op->inputs[0] == x)); });
  }
  return found;
}

/// Returns true if linear layers read these weights with another activation than `x`, which happens if layers share
/// them.
bool meet_others(const Graph& graph, const std::set<int32_t>& weights, int32_t x) {
  const auto meets = [&](const auto& op) {
    return op->attributes.type == fb::OpAttributes::Linear && weights.count(op->inputs[1]) != 0 && op->inputs[0] != x;
  };
  const auto& ops = main_subgraph(graph).ops;
  return std::any_of(ops.begin(), ops.end(), meets);
}

/// Maximum |weight| of each column over all readers.
std::vector<float> weight_maxima(const Graph& graph, const std::vector<const fb::OpT*>& readers, size_t columns) {
  std::vector<float> largest(columns, 0.0f);
  for (const fb::OpT* op : readers) {
    ConstantRows rows(*graph.constants[static_cast<size_t>(op->inputs[1])], columns);
    for (size_t r = 0; r < rows.size(); ++r) {
      const float* row = rows.row(r);
      for (size_t c = 0; c < columns; ++c) largest[c] = std::max(largest[c], std::fabs(row[c]));
    }
  }
  return largest;
}

int32_t add_factors(Graph& graph, const std::string& name, std::vector<float> factors) {
  fb::TensorT tensor;
  tensor.name = name;
  tensor.shape = {fb::Dim(-1, 0, static_cast<int32_t>(factors.size()), 1)};
  const int32_t index = add_tensor(graph, std::move(tensor));
  auto constant = std::make_shared<Constant>();
  constant->values = std::move(factors);
  graph.constants[static_cast<size_t>(index)] = std::move(constant);
  return index;
}

void migrate(Graph& graph, fb::OpT& producer, const std::vector<float>& maxima,
             const std::set<const Constant*>& tables) {
  const int32_t copy = producer.outputs[1];
  const std::vector<const fb::OpT*> readers = linear_readers(graph, copy);
  if (readers.empty() || feeds_more_than_layers(graph, copy)) return;
  std::set<int32_t> weights;
  for (const fb::OpT* op : readers) {
    const auto& constant = graph.constants[static_cast<size_t>(op->inputs[1])];
    const bool decided = !constant->column_factors.empty() || constant->rounded != nullptr ||
                         tensor(graph, op->inputs[1]).type == fb::DType::ternary;
    if (tables.count(constant.get()) != 0 || decided) return;
    weights.insert(op->inputs[1]);
  }
  if (meet_others(graph, weights, copy)) return;
  std::vector<float> factors = migration_factors(maxima, weight_maxima(graph, readers, maxima.size()));
  for (const int32_t weight : weights) {
    auto scaled = std::make_shared<Constant>(*graph.constants[static_cast<size_t>(weight)]);
    scaled->column_factors = factors;
    graph.constants[static_cast<size_t>(weight)] = std::move(scaled);
  }
  for (float& factor : factors) factor = 1.0f / factor;
  const int32_t smooth = add_factors(graph, tensor(graph, copy).name + ".smooth", std::move(factors));
  name_input(producer, producer.epilogue->smooth, smooth);
}

}  // namespace

ColumnMaxima column_maxima(const Ranges& ranges) {
  ColumnMaxima maxima;
  for (const auto& [name, range] : ranges) {
    std::vector<float>& largest = maxima[name];
    for (size_t i = 0; i < range.low.size(); ++i) {
      largest.push_back(std::max(std::fabs(range.low[i]), std::fabs(range.high[i])));
    }
  }
  return maxima;
}

std::vector<std::string> migratable(const Graph& graph) {
  std::vector<std::string> names;
  for (const auto& op : main_subgraph(graph).ops) {
    if (!ends_in_norm(*op) || op->outputs[0] < 0 || linear_readers(graph, op->outputs[0]).empty()) continue;
    names.push_back(tensor(graph, op->outputs[0]).name);
  }
  return names;
}

std::vector<float> migration_factors(const std::vector<float>& activation, const std::vector<float>& weights) {
  std::vector<float> factors(activation.size(), 1.0f);
  for (size_t i = 0; i < factors.size(); ++i) {
    const double a = double{activation[i]};
    const double w = double{weights[i]};
    const double factor = a > 0 && w > 0 ? std::sqrt(std::sqrt(std::sqrt(a * a * a * a * a / (w * w * w)))) : 1.0;
    // Far outside the values of real models; keeps the factor and its inverse well inside f32's range.
    factors[i] = static_cast<float>(std::clamp(factor, 1e-6, 1e6));
  }
  return factors;
}

void migrate_outliers(Graph& graph, const ColumnMaxima& maxima) {
  if (maxima.empty()) return;
  const std::set<const Constant*> tables = looked_up(graph);
  for (auto& op : main_subgraph(graph).ops) {
    if (!ends_in_norm(*op) || op->outputs.size() < 2 || op->outputs[1] < 0) continue;
    std::string name = tensor(graph, op->outputs[1]).name;
    const size_t suffix = name.rfind(".i8");
    const auto found = maxima.find(name.substr(0, suffix));
    if (found != maxima.end()) migrate(graph, *op, found->second, tables);
  }
}

}  // namespace bantam::convert
