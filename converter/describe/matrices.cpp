#include "describe/matrices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/sha256.h"
#include "format/stored_matrix.h"
#include "format/view.h"
#include "graph/access.h"
#include "graph/tensor_classes.h"

namespace bantam::convert {
namespace {

constexpr size_t kBlock = 4;  // number of inputs in a block that sparse layouts can skip

/// Returns, by tensor, the factors for the columns of a linear layer (`Epilogue.smooth` of the op that wrote its
/// input). The stored weights times these factors are the source's weights. Empty: all factors are 1.
std::map<int32_t, std::vector<float>> column_factors(const Model& model, const Graph& graph) {
  std::map<int32_t, std::vector<float>> factors;
  std::map<int32_t, const fb::OpT*> writer;
  for (const auto& op : main_subgraph(graph).ops) {
    if (op->attributes.type == fb::OpAttributes::Linear) {
      const auto from = writer.find(op->inputs[0]);
      const int32_t smooth = from != writer.end() ? epilogue_of(*from->second).smooth : -1;
      // Epilogue.smooth applies to the i8 store only: outputs[1].
      const bool stored = smooth >= 0 && from->second->outputs.size() > 1 && from->second->outputs[1] == op->inputs[0];
      if (stored) {
        const fb::Tensor& vector = bantam::tensor(root(model), smooth);
        const auto* values = reinterpret_cast<const float*>(model.data() + vector.data()->offset());
        factors[op->inputs[1]].assign(values, values + extent(vector, 0));
      }
    }
    for_each_write(*op, [&](int32_t t) { writer[t] = op.get(); });
  }
  return factors;
}

/// Which matrices are tables of positions, which conversion may shorten, and which are multiplied.
struct Uses {
  std::vector<bool> positions, linear;
};

Uses uses_of(const Graph& graph) {
  Uses uses{std::vector<bool>(graph.constants.size()), std::vector<bool>(graph.constants.size())};
  for (const auto& op : main_subgraph(graph).ops) {
    const fb::OpAttributes kind = op->attributes.type;
    if (kind == fb::OpAttributes::Linear || kind == fb::OpAttributes::Experts) {
      for (const int32_t matrix : multiplied_by(*op)) uses.linear[static_cast<size_t>(matrix)] = true;
    }
    if (const fb::EmbedT* embed = op->attributes.AsEmbed()) {
      for (const auto& table : embed->tables) {
        const auto tensor = static_cast<size_t>(named_input(*op, table->tensor));
        if (table->source == fb::IndexSource::positions) uses.positions[tensor] = true;
      }
    }
  }
  return uses;
}

/// Returns the source's rows for a stored matrix: the tensors that it names, stacked vertically. On failure returns
/// nothing and sets `why`.
std::optional<std::vector<float>> source_rows(const fb::TensorT& t, bool may_be_shorter, const Checkpoint& checkpoint,
                                              std::string* why) {
  const uint64_t columns = width(t);
  uint64_t found = 0;
  if (t.source.empty()) {
    *why = "the file does not say which of the source's tensors it comes from";
    return std::nullopt;
  }
  for (const std::string& name : t.source) {
    const auto entry = checkpoint.tensors().find(name);
    if (entry == checkpoint.tensors().end()) {
      *why = fmt::format("the source has no tensor {}", name);
      return std::nullopt;
    }
    const std::vector<uint64_t>& shape = entry->second.stored->shape;
    const uint64_t elements = entry->second.stored->elements;
    const bool matrix = !shape.empty() && shape.back() == columns && columns != 0;
    found += matrix ? elements / columns : 0;
    if (matrix) continue;
    *why = fmt::format("{} columns here, {} has {} in the source: pruned columns, or a student's layout", columns, name,
                       shape.empty() ? 0 : shape.back());
    return std::nullopt;
  }
  if (found != rows(t) && !(may_be_shorter && found > rows(t))) {
    *why = fmt::format("{} rows here, {} in the source: pruned heads or columns, or a student's layout or vocabulary",
                       rows(t), found);
    return std::nullopt;
  }
  std::vector<float> values;
  for (const std::string& name : t.source) {
    const std::vector<float> part = checkpoint.read(name);
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

/// Sums up the differences row by row.
class ErrorSum {
 public:
  void add(const float* stored, const float* source, size_t count) {
    for (size_t k = 0; k < count; ++k) {
      const double difference = double{stored[k]} - double{source[k]};
      whole_ += double{source[k]} * double{source[k]};
      (stored[k] == 0 ? zeros_ : rest_) += difference * difference;
      largest_ = std::max(largest_, std::fabs(difference));
    }
  }
  MatrixError result() const {
    if (whole_ == 0) return {0, 0, largest_};
    return {std::sqrt((zeros_ + rest_) / whole_), std::sqrt(zeros_ / whole_), largest_};
  }

 private:
  double whole_ = 0, zeros_ = 0, rest_ = 0, largest_ = 0;
};

/// Reads all rows once; counts zeros and, if `source` has values, computes the error.
void measure(const StoredMatrix& matrix, const std::vector<float>& factors, const std::vector<float>& source,
             MatrixReport* report) {
  std::vector<float> row(matrix.columns());
  uint64_t zeros = 0, blocks = 0;
  ErrorSum error;
  for (uint32_t n = 0; n < matrix.rows(); ++n) {
    matrix.read(n, row.data());
    for (size_t k = 0; k < row.size(); k += kBlock) {
      const size_t end = std::min(k + kBlock, row.size());
      const auto count = static_cast<size_t>(
          std::count(row.begin() + static_cast<ptrdiff_t>(k), row.begin() + static_cast<ptrdiff_t>(end), 0.0f));
      zeros += count;
      blocks += count == end - k ? 1 : 0;
    }
    if (source.empty()) continue;
    for (size_t k = 0; k < row.size(); ++k) row[k] *= matrix.scale(n) * (factors.empty() ? 1 : factors[k]);
    error.add(row.data(), source.data() + size_t{n} * row.size(), row.size());
  }
  const auto all = static_cast<double>(uint64_t{matrix.rows()} * matrix.columns());
  report->zeros = static_cast<double>(zeros) / all;
  if (report->linear) {
    const uint64_t row_blocks = (matrix.columns() + kBlock - 1) / kBlock;
    report->zero_blocks = static_cast<double>(blocks) / static_cast<double>(matrix.rows() * row_blocks);
  }
  if (!source.empty()) report->error = error.result();
}

uint64_t stored_bytes(const fb::Tensor& t) {
  uint64_t bytes = 0;
  for (const fb::Blob* blob : {t.data(), t.scales(), t.sums()}) bytes += blob == nullptr ? 0 : blob->size();
  return bytes;
}

}  // namespace

std::optional<bool> made_from(const Model& model, const ModelSource& source) {
  std::optional<bool> made;
  for (uint32_t i = 0; i < count(root(model).properties()); ++i) {
    const fb::Property& property = *root(model).properties()->Get(i);
    for (const auto& file : source.weight_files) {
      if (property.key()->str() != fmt::format("source.{}.sha256", file.filename().string())) continue;
      const bool same = property.value() != nullptr && property.value()->str() == sha256_of_file(file);
      made = made.value_or(true) && same;
    }
  }
  return made;
}

std::vector<MatrixReport> describe_matrices(const Model& model, const ModelSource* source) {
  const Graph graph = graph_of(model);
  const std::vector<Owner> owners = tensor_owners(graph);
  const Uses uses = uses_of(graph);
  const auto factors = column_factors(model, graph);
  std::vector<MatrixReport> reports;
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    const fb::Tensor& t = *root(model).tensors()->Get(static_cast<uint32_t>(i));
    if (!graph.constants[i] || t.shape()->size() != 2 || t.alias() >= 0 || owners[i].group.empty()) continue;
    MatrixReport report;
    report.name = t.name()->str();
    report.group = owners[i].group;
    report.part = short_name(report.name);
    report.purpose = owners[i].purpose;
    report.type = fb::EnumNameDType(t.type());
    report.layout = fb::EnumNameLayout(t.layout());
    report.rows = extent(t, 0);
    report.columns = extent(t, 1);
    report.bytes = stored_bytes(t);
    report.linear = uses.linear[i];
    report.recorded_error = t.error();
    const StoredMatrix matrix(model, t);
    if (!matrix.readable()) {
      report.incomparable = "this layout is not read here";
      reports.push_back(std::move(report));
      continue;
    }
    std::vector<float> values;
    if (source != nullptr && !matrix.has_scales()) {
      report.incomparable = "static quantization folds scales of inputs and outputs into its integers";
    } else if (source != nullptr) {
      values = source_rows(*graph.model.tensors[i], uses.positions[i], *source->checkpoint, &report.incomparable)
                   .value_or(std::vector<float>());
    }
    const auto found = factors.find(static_cast<int32_t>(i));
    measure(matrix, found == factors.end() ? std::vector<float>() : found->second, values, &report);
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace bantam::convert
