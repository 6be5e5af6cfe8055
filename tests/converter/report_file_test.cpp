// Components, matrices and the page of files that the converter builds.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "base/error.h"
#include "converter/pack_graphs.h"
#include "describe/components.h"
#include "describe/matrices.h"
#include "describe/report_html.h"
#include "format/stored_matrix.h"
#include "format/view.h"
#include "graph/access.h"
#include "pack/build.h"
#include "pages/html.h"
#include "prune/prune.h"
#include "tests/session/edit_file.h"

namespace bantam::convert {
namespace {

Model opened(const FileBytes& bytes) {
  Model model;
  EXPECT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
  return model;
}

/// How a file is made: the type of its weights, and zeros in them.
struct FileKind {
  const char* weights;
  double pruned = 0;
  PrunePattern pattern = PrunePattern::k1x4;
  const char* layout = "";  // of the layers with zeros
};
void PrintTo(const FileKind& kind, std::ostream* out) { *out << kind.weights << " " << kind.layout; }

Graph graph_of_kind(const FileKind& kind) {
  Graph graph = clone(fixture::bert_graph({}));
  if (kind.pruned == 0) return graph;
  PruneOptions options;
  options.share = kind.pruned;
  options.pattern = kind.pattern;
  prune(graph, options, {}, {});
  return graph;
}

FileBytes built(const FileKind& kind) {
  TypeOptions types;
  types.sparse = kind.pattern == PrunePattern::kUnstructured ? Sparse::kSmallest : Sparse::kAlways;
  if (kind.pruned == 0) types.sparse = Sparse::kAuto;
  types.weights = parse_keep(std::string("x=") + kind.weights).type;
  return build(graph_of_kind(kind), types);
}

class Files : public ::testing::TestWithParam<FileKind> {};

TEST_P(Files, ComponentsAddUpToTheByte) {
  const FileBytes bytes = built(GetParam());
  const Model model = opened(bytes);
  const std::vector<Component> components = file_components(model);
  uint64_t sum = 0;
  std::set<std::pair<std::string, std::string>> names;
  std::set<Purpose> purposes;
  for (const Component& component : components) {
    EXPECT_GT(component.bytes, 0U);
    sum += component.bytes;
    EXPECT_TRUE(names.insert({component.group, component.name}).second) << component.group << " " << component.name;
    purposes.insert(component.purpose);
  }
  EXPECT_EQ(sum, bytes.size());
  for (const Purpose purpose : {Purpose::kEmbedding, Purpose::kAttention, Purpose::kFeedForward, Purpose::kVectors,
                                Purpose::kHead, Purpose::kGraph}) {
    EXPECT_EQ(purposes.count(purpose), 1U) << purpose_name(purpose);
  }
}

TEST_P(Files, StoredRowsAreTheSourcesValues) {
  const Graph graph = graph_of_kind(GetParam());
  const FileBytes bytes = built(GetParam());
  const Model model = opened(bytes);
  size_t compared = 0, with_layout = 0;
  for (const fb::Tensor* t : *root(model).tensors()) {
    if (!bantam::is_constant(*t) || t->shape()->size() != 2) continue;
    const StoredMatrix matrix(model, *t);
    ASSERT_TRUE(matrix.readable() && matrix.has_scales());
    with_layout += fb::EnumNameLayout(t->layout()) == std::string(GetParam().layout) ? 1U : 0U;
    for (size_t i = 0; i < graph.constants.size(); ++i) {
      if (!graph.constants[i] || graph.model.tensors[i]->name != t->name()->str()) continue;
      ++compared;
      double largest = 0;
      std::vector<float> row(matrix.columns());
      for (uint32_t n = 0; n < matrix.rows(); ++n) {
        matrix.read(n, row.data());
        for (uint32_t k = 0; k < matrix.columns(); ++k) {
          const float source = graph.constants[i]->values[size_t{n} * matrix.columns() + k];
          largest = std::max(largest, std::fabs(double{row[k]} * double{matrix.scale(n)} - double{source}));
        }
      }
      EXPECT_NEAR(largest, double{t->error()}, 1e-6) << t->name()->str();  // as measured by the layout
    }
  }
  EXPECT_GE(compared, 10U);
  if (GetParam().pruned > 0) {
    EXPECT_GE(with_layout, 4U);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Files,
                         ::testing::Values(FileKind{"f32"}, FileKind{"f16"}, FileKind{"i8"}, FileKind{"i4"},
                                           FileKind{"i8", 0.75, PrunePattern::k1x4, "sparse_1x4"},
                                           FileKind{"i8", 0.75, PrunePattern::kUnstructured, "bitmask_k4n16"}));

TEST(Matrices, SparseLayersShowTheirZeros) {
  const FileBytes bytes = built({"i8", 0.75});
  size_t sparse = 0;
  for (const MatrixReport& matrix : describe_matrices(opened(bytes), nullptr)) {
    EXPECT_FALSE(matrix.error.has_value());
    if (matrix.layout != "sparse_1x4") continue;
    ++sparse;
    EXPECT_TRUE(matrix.linear);
    EXPECT_GE(matrix.zeros, matrix.zero_blocks);
    EXPECT_GT(matrix.zero_blocks, 0.3);
  }
  EXPECT_GE(sparse, 4U);
}

/// Returns a source with the tensors from which the graph's linear weights and tables were made.
ModelSource source_of(const Graph& graph) {
  std::map<std::string, MemoryTensor> tensors;
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    if (!graph.constants[i]) continue;
    const fb::TensorT& t = *graph.model.tensors[i];
    if (t.shape.size() == 2 && t.source.size() == 1)
      tensors[t.source[0]] = {{rows(t), width(t)}, graph.constants[i]->values};
  }
  ModelSource source;
  source.checkpoint = std::make_shared<Checkpoint>(std::move(tensors));
  return source;
}

Graph with_sources() {
  Graph graph = clone(fixture::bert_graph({}));
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    if (graph.constants[i]) graph.model.tensors[i]->source = {"source." + graph.model.tensors[i]->name};
  }
  return graph;
}

TEST(Matrices, ErrorsAgainstTheSource) {
  const Graph graph = with_sources();
  const ModelSource source = source_of(graph);
  const auto errors = [&](fb::DType weights) {
    TypeOptions types;
    types.weights = weights;
    const FileBytes bytes = build(graph, types);
    std::vector<double> found;
    for (const MatrixReport& matrix : describe_matrices(opened(bytes), &source)) {
      EXPECT_TRUE(matrix.error.has_value()) << matrix.name << ": " << matrix.incomparable;
      if (!matrix.error) continue;
      EXPECT_NEAR(matrix.error->largest, double{matrix.recorded_error}, 1e-6) << matrix.name;
      EXPECT_LE(matrix.error->zeros, matrix.error->relative + 1e-12);
      if (matrix.linear) found.push_back(matrix.error->relative);
    }
    return found;
  };
  for (const double error : errors(fb::DType::f32)) EXPECT_EQ(error, 0);
  const std::vector<double> eight = errors(fb::DType::i8), four = errors(fb::DType::i4);
  ASSERT_EQ(eight.size(), four.size());
  for (size_t i = 0; i < eight.size(); ++i) {
    EXPECT_LT(eight[i], 0.02);
    EXPECT_LE(eight[i], four[i]);
  }
}

TEST(Matrices, SayWhatCannotBeCompared) {
  const Graph graph = with_sources();
  ModelSource source = source_of(graph);
  std::map<std::string, MemoryTensor> changed;
  for (const auto& [name, entry] : source.checkpoint->tensors()) {
    if (name.find("ffn1") != std::string::npos) continue;  // removed
    std::vector<uint64_t> shape = entry.stored->shape;
    std::vector<float> values = source.checkpoint->read(name);
    if (name.find("words") != std::string::npos) {  // another vocabulary
      shape[0] += 1;
      values.resize(static_cast<size_t>(shape[0] * shape[1]));
    }
    changed[name] = {shape, values};
  }
  source.checkpoint = std::make_shared<Checkpoint>(std::move(changed));
  const FileBytes bytes = build(graph, {});
  std::string reasons;
  for (const MatrixReport& matrix : describe_matrices(opened(bytes), &source)) reasons += matrix.incomparable + "\n";
  EXPECT_NE(reasons.find("has no tensor"), std::string::npos) << reasons;
  EXPECT_NE(reasons.find("vocabulary"), std::string::npos) << reasons;
  EXPECT_FALSE(made_from(opened(bytes), source).has_value());  // the file contains no digests
}

/// Model::open checks the number of factors only if the kind of scale requires them: security trial, finding 10.
TEST(Matrices, ReadNoFactorsThatNobodyChecked) {
  const FileBytes packed = built({"f32"});
  const auto edited = bantam::testing::edit_file({packed.begin(), packed.end()}, [](fb::ModelT& m, auto& data) {
    const size_t at = data.size();
    data.resize(at + 64, 0x40);
    for (auto& tensor : m.tensors) {
      if (tensor->data && tensor->shape.size() == 2) tensor->scales = std::make_unique<fb::Blob>(at, 4, 0, 0);
    }
  });
  const FileBytes bytes(edited.begin(), edited.end());
  const Model model = opened(bytes);
  size_t matrices = 0;
  for (const fb::Tensor* tensor : *root(model).tensors()) {
    if (tensor->scales() == nullptr) continue;
    const StoredMatrix matrix(model, *tensor);
    for (const uint32_t row : {0u, matrix.rows() - 1}) EXPECT_EQ(matrix.scale(row), 1) << tensor->name()->str();
    ++matrices;
  }
  EXPECT_GT(matrices, 3U);
}

TEST(Page, EscapesWhatFilesSay) {
  const std::string hostile = "</title><script>alert('1')</script>\"&\x01\xFF";
  ReportData data;
  const FileBytes bytes = built({"i8"});
  FileReport file;
  file.path = hostile;
  file.name = file.task = file.licence = file.architecture = file.tool = hostile;
  file.bytes = bytes.size();
  file.labels = {{hostile, hostile}};
  file.components = file_components(opened(bytes));
  file.components[0].name = file.components[0].group = hostile;
  file.matrices = describe_matrices(opened(bytes), nullptr);
  file.matrices[0].name = file.matrices[0].part = hostile;
  file.metrics = {{hostile, 0.5}};
  file.timing = Timing{};
  file.timing->operators.push_back({hostile, hostile, "", 1, 1, 1, 0});
  data.files = {file, file};
  data.data = data.layout = data.metric = data.source = data.machine = data.tool = hostile;
  data.examples = 2;
  data.missing.push_back({hostile, hostile});
  const std::string page = report_html(data);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("alert('1')"), std::string::npos);
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  EXPECT_EQ(page.find('\xFF'), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find(kPageStart), 0U);
  EXPECT_EQ(html_escaped(hostile),
            "&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace bantam::convert
