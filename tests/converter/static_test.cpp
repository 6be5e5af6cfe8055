// The static form: what it refuses, its numbers, and that its answers are those of the f32 model, with the same bits
// everywhere.
#include "quantize/static.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <random>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "calibrate/static_ranges.h"
#include "converter/import_fixture.h"
#include "converter/pack_graphs.h"
#include "data/texts.h"
#include "format/header.h"
#include "graph/access.h"
#include "graph/builder.h"
#include "pack/layout.h"
#include "pack/lower.h"
#include "pack/plan.h"
#include "prune/prune.h"
#include "quantize/numbers.h"
#include "tests/session/edit_file.h"
#include "tests/session/run_helpers.h"

namespace bantam::convert {
namespace {

using bantam::testing::Ids;
using bantam::testing::random_ids;
using bantam::testing::run_once;
using bantam::testing::Threads;
using TestFile = bantam::testing::FileBytes;

TestFile file_of(const Built& built) { return TestFile(std::vector<uint8_t>(built.bytes.begin(), built.bytes.end())); }

StaticRanges ranges_of(const Graph& graph, RangeBy by = RangeBy::kMinMax) {
  const Graph unfused = unfuse(graph);
  const auto choose = [](Runner& runner) { return random_samples(runner.model().vocabulary(), 40); };
  return measure_static(unfused, {by}, 40, choose, [](double) {});
}

Built build_random_static(const fixture::Shape& shape = {}) {
  const Graph graph = fixture::bert_graph(shape);
  return build_static(graph, ranges_of(graph));
}

Built build_small_static() {
  const Graph graph = split_for_small_plan(fixture::bert_graph({}));
  return build_static(graph, ranges_of(graph), true);
}

/// Returns the relative error of static quantization's answers compared with the f32 build.
double static_error(const Graph& graph, RangeBy by = RangeBy::kMinMax) {
  TypeOptions exact;
  exact.weights = fb::DType::f32;
  const Ids ids = random_ids({1, 33, 17, 5, 40, 12, 9, 26}, 211, 1, 5);
  const std::vector<float> expected = run_once(file_of(build_model(graph, exact)), ids, {});
  const std::vector<float> got = run_once(file_of(build_static(graph, ranges_of(graph, by))), ids, {});
  EXPECT_EQ(got.size(), expected.size());
  double error = 0;
  double power = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    error += std::pow(double{got[i]} - double{expected[i]}, 2);
    power += std::pow(double{expected[i]}, 2);
  }
  return std::sqrt(error / power);
}

TEST(Static, UnfusedComputesTheSame) {
  const Graph graph = fixture::bert_graph({});
  TypeOptions exact;
  exact.weights = fb::DType::f32;
  const Ids ids = random_ids({1, 33, 17}, 211, 1, 5);
  const std::vector<float> fused = run_once(file_of(build_model(graph, exact)), ids, {});
  const std::vector<float> unfused = run_once(file_of(build_model(unfuse(graph), exact)), ids, {});
  EXPECT_EQ(fused, unfused);
}

TEST(Static, HoldsNoFloatBetweenIdsAndLogits) {
  const Built built = build_random_static();
  for (const auto& op : main_subgraph(built.graph).ops) {
    EXPECT_EQ(op->numerics, fb::Numerics::static_int) << op->name;
    for_each_write(*op, [&](int32_t t) {
      const fb::TensorT& written = tensor(built.graph, t);
      if (written.role == fb::Role::output) return;
      EXPECT_EQ(written.type, fb::DType::i8) << written.name;
      EXPECT_EQ(written.scale_kind, fb::ScaleKind::fixed) << written.name;
    });
  }
}

TEST(Static, AnEpsilonThatWouldWrapTheSquaresIsRefused) {
  const Built built = build_random_static();
  const auto opened = [&](uint64_t epsilon) {
    const TestFile file(bantam::testing::edit_file({built.bytes.begin(), built.bytes.end()},
                                                   [&](fb::ModelT& model, std::vector<uint8_t>&) {
                                                     for (const auto& op : model.subgraphs[0]->ops)
                                                       op->integer->epsilon = epsilon;
                                                   }));
    Model model;
    return Model::open(file.data(), file.size(), &model);
  };
  EXPECT_EQ(opened(uint64_t{1} << 62), Status::kOk);
  EXPECT_EQ(opened((uint64_t{1} << 62) + 1), Status::kCorrupt);
  EXPECT_EQ(opened(~uint64_t{0} - 1000), Status::kCorrupt);
  EXPECT_EQ(opened(0), Status::kCorrupt);
}

TEST(Static, AnswersAreThoseOfTheF32Model) {
  for (const RangeBy by : {RangeBy::kMinMax, RangeBy::kPercentile, RangeBy::kMse}) {
    EXPECT_LT(static_error(fixture::bert_graph({}), by), 0.1) << range_name(by);
  }
}

// The sums of outputs with small weights are close to the offset of the table after them: they must not be clamped.
TEST(Static, OutputsOfOneFunctionMayDifferInSize) {
  Graph graph = fixture::bert_graph({});
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    const std::string& name = graph.model.tensors[i]->name;
    if (name.find(".ffn1.") == std::string::npos) continue;
    std::vector<float>& values = graph.constants[i]->values;
    for (size_t v = 0; v < values.size() / 2; ++v) values[v] *= 0.01F;
  }
  EXPECT_LT(static_error(graph), 0.1);
}

// Pruning leaves rows of zeros: for some outputs, for a whole head, or for a whole layer. Their biases still count.
TEST(Static, RowsOfZerosKeepTheirBiasesAndTheirNeighboursTheirBits) {
  const auto cleared = [](const std::string& suffix, size_t begin, size_t end, bool biases) {
    Graph graph = fixture::bert_graph({});
    for (size_t i = 0; i < graph.constants.size(); ++i) {
      if (graph.constants[i] == nullptr) continue;
      const std::string& name = graph.model.tensors[i]->name;
      std::vector<float>& values = graph.constants[i]->values;
      const auto is = [&](const char* part) { return name == suffix + part; };
      const size_t columns = is(".weight") ? in_memory(width(*graph.model.tensors[i])) : 1;
      if (!is(".weight") && !(biases && is(".bias"))) continue;
      std::fill(values.begin() + static_cast<std::ptrdiff_t>(begin * columns),
                values.begin() + static_cast<std::ptrdiff_t>(std::min(end * columns, values.size())), 0.0F);
    }
    return graph;
  };
  for (const bool biases : {false, true}) {
    for (const char* layer : {"layer.0.qkv", "layer.0.out", "layer.1.ffn1", "layer.1.ffn2", "pooler", "classifier"}) {
      EXPECT_LT(static_error(cleared(layer, 0, 1, biases)), 0.1) << layer;
    }
    EXPECT_LT(static_error(cleared("layer.0.qkv", 8, 16, biases)), 0.1);    // queries of a head
    EXPECT_LT(static_error(cleared("layer.1.qkv", 80, 120, biases)), 0.1);  // all values
    EXPECT_LT(static_error(cleared("layer.1.out", 0, 40, biases)), 0.1);
    EXPECT_LT(static_error(cleared("layer.1.ffn1", 0, 72, biases)), 0.1);
  }
}

/// Expects the same bits on every instruction set, for every tile, block and number of workers.
void expect_same_bits(const Built& built) {
  const TestFile file = file_of(built);
  const Ids ids = random_ids({1, 33, 17, 5, 40, 12, 9, 26}, 211, 1, 5);
  SessionOptions options;
  options.isa = Isa::kReference;
  const std::vector<float> expected = run_once(file, ids, options);
  for (uint32_t isa = 0; isa <= static_cast<uint32_t>(Isa::kAmx); ++isa) {
    options.isa = static_cast<Isa>(isa);
    if (!isa_available(options.isa)) continue;
    EXPECT_EQ(run_once(file, ids, options), expected) << isa_name(options.isa);
    for (const uint32_t tile : {4u, 16u, 64u}) {
      for (const uint32_t block : {1u, 3u, 16u}) {
        SessionOptions small = options;
        small.tile_rows = tile;
        small.block_rows = block;
        EXPECT_EQ(run_once(file, ids, small), expected)
            << isa_name(options.isa) << " tile " << tile << " block " << block;
      }
    }
  }
  const Threads threads(3);
  options.isa = Isa::kAuto;
  options.workers = 3;
  options.parallel = threads.get();
  EXPECT_EQ(run_once(file, ids, options), expected);
}

TEST(Static, SameBitsOnEveryIsaTileAndWorker) { expect_same_bits(build_random_static()); }

/// Returns the file of a graph whose layers compute all rows, which are pooled afterwards.
TestFile file_of_all_rows(const Graph& graph, bool small) {
  Graph g = clone(graph);
  merge_tied(g);
  choose_types(g, {});
  make_static(g, ranges_of(graph));
  make_steps(g, small);
  share_storage(g);
  plan_memory(g);
  DataSection data = lay_out(g, DataSection::In::kMemory);
  const FileBytes bytes = assemble_file(g.model, std::move(data));
  return TestFile(std::vector<uint8_t>(bytes.begin(), bytes.end()));
}

/// Returns `graph` with answers pooled by `kind` from the last layer's rows.
Graph with_vectors(Graph graph, fb::PoolKind kind) {
  fb::SubgraphT& subgraph = main_subgraph(graph);
  subgraph.ops.resize(subgraph.ops.size() - 2);  // removes the pooler and the labels
  fb::OpT& pool = *subgraph.ops.back();
  pool.attributes.AsPool()->kind = kind;
  tensor(graph, pool.outputs[0]).role = fb::Role::output;
  graph.model.outputs[0]->tensor = pool.outputs[0];
  graph.model.outputs[0]->role = fb::OutputRole::embedding;
  remove_unused_tensors(graph);
  return graph;
}

/// Returns the number of layers after the embeddings that compute one row per sequence.
size_t layers_of_sequences(const Built& built) {
  size_t count = 0;
  const fb::SubgraphT& subgraph = main_subgraph(built.graph);
  for (const auto& step : subgraph.steps) {
    for (uint32_t i = 0; i < step->op_count && step->rows == kSequences; ++i) {
      const fb::OpT& op = *subgraph.ops[step->first_op + i];
      count += op.attributes.type == fb::OpAttributes::Linear && op.name.rfind("layer.", 0) == 0 ? 1U : 0U;
    }
  }
  return count;
}

TEST(Static, ThePooledTokensRowHasTheBitsOfAllRows) {
  const Graph labels = fixture::bert_graph({});
  const Ids ids = random_ids({1, 33, 17, 5, 40, 12, 9, 26}, 211, 1, 5);
  for (const bool small : {false, true}) {
    for (const Graph& whole : {clone(labels), with_vectors(clone(labels), fb::PoolKind::first),
                               with_vectors(clone(labels), fb::PoolKind::last)}) {
      const Graph graph = small ? split_for_small_plan(whole) : clone(whole);
      const Built built = build_static(graph, ranges_of(graph), small);
      EXPECT_EQ(layers_of_sequences(built), 3u);  // after the last attention
      const std::vector<float> expected = run_once(file_of_all_rows(graph, small), ids, {});
      EXPECT_NE(expected, std::vector<float>(expected.size(), expected.front()));
      EXPECT_EQ(run_once(file_of(built), ids, {}), expected) << small;
      expect_same_bits(built);
    }
  }
}

// Two tensors have one row for each sequence; attention's rows are where the residual was.
TEST(Static, PoolingEarlyTakesNoRowsOfTokensInASmallPlan) {
  const Graph graph = split_for_small_plan(fixture::bert_graph({}));
  const TestFile late = file_of_all_rows(graph, true);
  const TestFile early = file_of(build_small_static());
  Model one, other;
  ASSERT_EQ(Model::open(late.data(), late.size(), &one), Status::kOk);
  ASSERT_EQ(Model::open(early.data(), early.size(), &other), Status::kOk);
  uint64_t more[2];
  for (const uint32_t tokens : {32u, 64u}) {
    SessionOptions options;
    options.max_tokens = tokens;
    options.max_sequences = 1;
    more[tokens / 64] = arena_bytes(other, options) - arena_bytes(one, options);
  }
  EXPECT_EQ(more[0], more[1]);
}

TEST(Static, SmallPlanTakesLessMemory) {
  const Built small = build_small_static();
  expect_same_bits(small);
  const TestFile fast_file = file_of(build_random_static());
  const TestFile small_file = file_of(small);
  Model fast_model;
  Model small_model;
  ASSERT_EQ(Model::open(fast_file.data(), fast_file.size(), &fast_model), Status::kOk);
  ASSERT_EQ(Model::open(small_file.data(), small_file.size(), &small_model), Status::kOk);
  SessionOptions options;
  options.tile_rows = 4;
  EXPECT_LT(arena_bytes(small_model, options) * 5, arena_bytes(fast_model, options) * 4);
}

TEST(Static, SameRangesSameBytes) { EXPECT_EQ(build_random_static().bytes, build_random_static().bytes); }

TEST(Static, NamesEverythingThatHasNoIntegerForm) {
  fixture::Shape tied;
  tied.tied_output = true;
  Graph graph = fixture::bert_graph(tied);
  main_subgraph(graph).ops[3]->epilogue->norm = fb::NormKind::rms;
  const std::string problems = fixture::problems_of(ExitCode::kUnsupported, [&] { check_static(graph); });
  for (const char* words : {"only layer norm", "shares the embeddings", "--activations dynamic"}) {
    EXPECT_NE(problems.find(words), std::string::npos) << problems;
  }
  check_static(fixture::bert_graph({}));
}

/// Opens the file of `built` after `spoil` has changed its graph.
Status open_spoiled(const Built& built, const std::function<void(fb::ModelT&)>& spoil) {
  fb::ModelT model(built.graph.model);
  spoil(model);
  FileHeader header;
  EXPECT_EQ(read_header(built.bytes.data(), built.bytes.size(), &header, nullptr), Status::kOk);
  const uint8_t* data = built.bytes.data() + header.data_offset;
  const TestFile file(bantam::testing::assemble(model, std::vector<uint8_t>(data, data + header.data_size)));
  Model opened;
  return Model::open(file.data(), file.size(), &opened);
}

fb::OpT& op_of(fb::ModelT& model, fb::OpAttributes kind) {
  for (auto& op : model.subgraphs.front()->ops) {
    if (op->attributes.type == kind) return *op;
  }
  throw std::logic_error("no such op");
}

// Fields that name inputs by position.
int8_t& multiplier(fb::OpT& op) { return op.integer->multiplier; }
int8_t& table(fb::OpT& op) { return op.integer->table; }
int8_t& gamma(fb::OpT& op) { return op.epilogue->gamma; }
int8_t& beta(fb::OpT& op) { return op.epilogue->beta; }
int8_t& first_table(fb::OpT& op) { return op.attributes.AsEmbed()->tables[0]->multiplier; }

/// Makes the field of the first op of this kind name `tensor` instead.
void rename(fb::ModelT& model, fb::OpAttributes kind, int8_t& (*field)(fb::OpT&), int32_t tensor) {
  fb::OpT& op = op_of(model, kind);
  name_input(op, field(op), tensor);
}
int32_t multiplier_of(fb::ModelT& model, fb::OpAttributes kind) {
  return named_input(op_of(model, kind), op_of(model, kind).integer->multiplier);
}

TEST(Static, TheVerifierTrustsNoNumber) {
  const Built built = build_random_static();
  using Kind = fb::OpAttributes;
  const std::function<void(fb::ModelT&)> spoils[] = {
      [](fb::ModelT& m) { op_of(m, Kind::Linear).integer.reset(); },
      [](fb::ModelT& m) { op_of(m, Kind::Linear).integer->pre_shift = 32; },
      [](fb::ModelT& m) { op_of(m, Kind::Linear).integer->post_shift = 255; },
      [](fb::ModelT& m) { rename(m, Kind::Linear, multiplier, -1); },
      [](fb::ModelT& m) { op_of(m, Kind::Linear).integer->multiplier = 100; },
      [](fb::ModelT& m) { op_of(m, Kind::Linear).integer->table = op_of(m, Kind::Linear).integer->multiplier; },
      [](fb::ModelT& m) { rename(m, Kind::Linear, table, multiplier_of(m, Kind::Linear)); },
      [](fb::ModelT& m) { op_of(m, Kind::Linear).numerics = fb::Numerics::dynamic; },
      [](fb::ModelT& m) { op_of(m, Kind::Linear).version = 2; },
      [](fb::ModelT& m) { op_of(m, Kind::Linear).epilogue->activation = fb::ActivationKind::gelu; },
      [](fb::ModelT& m) { op_of(m, Kind::Linear).inputs[2] = multiplier_of(m, Kind::Linear); },
      [](fb::ModelT& m) { op_of(m, Kind::Embed).integer->epsilon = 0; },
      [](fb::ModelT& m) {
        rename(m, Kind::Embed, gamma, named_input(op_of(m, Kind::Embed), op_of(m, Kind::Embed).epilogue->beta));
      },
      [](fb::ModelT& m) { rename(m, Kind::Embed, beta, -1); },
      [](fb::ModelT& m) { op_of(m, Kind::Embed).epilogue->norm = fb::NormKind::rms; },
      [](fb::ModelT& m) { rename(m, Kind::Embed, first_table, -1); },
      [](fb::ModelT& m) { op_of(m, Kind::Embed).attributes.AsEmbed()->tables[0]->shift = 40; },
      [](fb::ModelT& m) { op_of(m, Kind::Embed).numerics = fb::Numerics::dynamic; },
      [](fb::ModelT& m) { rename(m, Kind::Attention, multiplier, multiplier_of(m, Kind::Linear)); },
      [](fb::ModelT& m) { op_of(m, Kind::Attention).numerics = fb::Numerics::dynamic; },
      [](fb::ModelT& m) { op_of(m, Kind::SplitHeads).outputs[0] = -1; },
      [](fb::ModelT& m) { op_of(m, Kind::SplitHeads).outputs[2] = -1; },
      [](fb::ModelT& m) { op_of(m, Kind::SplitHeads).attributes.AsSplitHeads()->kv_heads = 0; },
      [](fb::ModelT& m) { op_of(m, Kind::Pool).numerics = fb::Numerics::dynamic; },
      [](fb::ModelT& m) { op_of(m, Kind::Pool).attributes.AsPool()->kind = fb::PoolKind::mean; },
      [](fb::ModelT& m) {
        // Rows with scales after them are longer than those without.
        const int32_t y = op_of(m, Kind::Embed).outputs[0];
        m.tensors[static_cast<size_t>(y)]->scale_kind = fb::ScaleKind::per_row;
      }};
  EXPECT_EQ(open_spoiled(built, [](fb::ModelT&) {}), Status::kOk);
  for (size_t i = 0; i < std::size(spoils); ++i) {
    const Status status = open_spoiled(built, spoils[i]);
    EXPECT_TRUE(status == Status::kCorrupt || status == Status::kUnsupported) << "spoil " << i;
  }
}

/// Sets 85 % of the blocks of four weights to 0.
Built build_pruned_static(Sparse sparse, PrunePattern pattern = PrunePattern::k1x4, bool small = false) {
  const Graph whole = fixture::bert_graph({2, 40, 5, 520, 211, 3, false, 64, 70});
  Graph graph = small ? split_for_small_plan(whole) : clone(whole);
  fixture::prune_most(graph, pattern);
  TypeOptions options;
  options.sparse = sparse;
  return build_static(graph, ranges_of(graph), small, options);
}

size_t weights_in(const Built& built, fb::Layout layout) {
  const auto& tensors = built.graph.model.tensors;
  return static_cast<size_t>(
      std::count_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t->layout == layout; }));
}

TEST(Static, SparseLayersHaveTheBitsOfDenseOnes) {
  const Ids ids = random_ids({1, 33, 17, 5, 40, 12, 9, 26}, 211, 1, 5);
  for (const bool small : {false, true}) {
    const Built dense = build_pruned_static(Sparse::kNever, PrunePattern::k1x4, small);
    const Built sparse = build_pruned_static(Sparse::kAlways, PrunePattern::k1x4, small);
    EXPECT_EQ(weights_in(dense, fb::Layout::sparse_1x4), 0u);
    EXPECT_GE(weights_in(sparse, fb::Layout::sparse_1x4), 8u);
    EXPECT_LT(sparse.bytes.size(), dense.bytes.size());
    EXPECT_EQ(run_once(file_of(sparse), ids, {}), run_once(file_of(dense), ids, {}));
    expect_same_bits(sparse);
  }
}

TEST(Static, TheSmallestFileHasNoBitmasks) {
  const Built blocks = build_pruned_static(Sparse::kSmallest);
  EXPECT_GE(weights_in(blocks, fb::Layout::sparse_1x4), 8u);
  const Built scattered = build_pruned_static(Sparse::kSmallest, PrunePattern::kUnstructured);
  EXPECT_EQ(weights_in(scattered, fb::Layout::bitmask_k4n16), 0u);
  // Half of the blocks are 0 nevertheless.
  EXPECT_LT(scattered.bytes.size(), build_pruned_static(Sparse::kNever, PrunePattern::kUnstructured).bytes.size());
}

TEST(Static, TheVerifierFollowsNoPlaceOfSparseWeights) {
  const Built built = build_pruned_static(Sparse::kAlways);
  using Spoil = void (*)(fb::TensorT&, uint8_t * data);
  const auto opened = [&](Spoil spoil) {
    const TestFile file(bantam::testing::edit_file({built.bytes.begin(), built.bytes.end()},
                                                   [&](fb::ModelT& model, std::vector<uint8_t>& data) {
                                                     for (const auto& t : model.tensors) {
                                                       if (t->layout == fb::Layout::sparse_1x4)
                                                         return spoil(*t, data.data() + t->data->offset());
                                                     }
                                                   }));
    Model model;
    return Model::open(file.data(), file.size(), &model);
  };
  EXPECT_EQ(opened([](fb::TensorT&, uint8_t*) {}), Status::kOk);
  const Spoil spoils[] = {
      [](fb::TensorT& t, uint8_t* data) {  // an output of another span
        data[t.data->size() - 1] = 255;
      },
      [](fb::TensorT& t, uint8_t* data) {  // a block beyond the inputs
        const uint64_t padded = (static_cast<uint64_t>(t.shape[0].b()) + 15) / 16 * 16;
        const uint64_t steps = (t.data->size() - 2 * padded) / 24;
        data[steps * 16 + 1] = 255;
      },
      [](fb::TensorT& t, uint8_t*) { *t.data = fb::Blob(t.data->offset(), t.data->size() - 24, 0, 0); },
      [](fb::TensorT& t, uint8_t*) { t.sums.reset(); },
      [](fb::TensorT& t, uint8_t*) { t.layout = fb::Layout::bitmask_k4n16; },
      [](fb::TensorT& t, uint8_t*) { t.type = fb::DType::u8; },
  };
  for (size_t i = 0; i < std::size(spoils); ++i) EXPECT_EQ(opened(spoils[i]), Status::kCorrupt) << "spoil " << i;
}

TEST(Static, DamagedFilesNeverFault) {
  const Built built = build_random_static();
  FileHeader header;
  ASSERT_EQ(read_header(built.bytes.data(), built.bytes.size(), &header, nullptr), Status::kOk);
  const Ids ids = random_ids({1, 20, 7}, 211, 1, 5);
  std::mt19937 random(7);
  uint32_t ran = 0;
  for (uint32_t round = 0; round < 400; ++round) {
    std::vector<uint8_t> bytes(built.bytes.begin(), built.bytes.end());
    for (uint32_t i = 0; i < 1 + random() % 40; ++i) {
      // Half of the damage is in the graph, half in the data.
      const auto begin = static_cast<size_t>(round % 2 == 0 ? header.graph_offset : header.data_offset);
      const auto size = static_cast<size_t>(round % 2 == 0 ? header.graph_size : header.data_size);
      bytes[begin + random() % size] = static_cast<uint8_t>(random());
    }
    const TestFile file(bytes);
    try {
      run_once(file, ids, {});
      ++ran;
    } catch (const Status&) {
    }
  }
  EXPECT_GE(ran, 150u);  // every value is legal except a logit that is NaN
}

TEST(Numbers, FactorsTakeAsManyBitsAsFit) {
  const Factors factors = to_factors({0.5, -0.001, 0.0}, "x");
  EXPECT_EQ(factors.shift, 15u);
  EXPECT_EQ(factors.multiplier, (std::vector<int32_t>{16384, -33, 0}));
  EXPECT_EQ(to_factors({0.0}, "x").shift, 31u);
  EXPECT_EQ(to_factors({32767.0}, "x").shift, 0u);
  EXPECT_THROW(to_factors({40000.0}, "x"), Error);
}

TEST(Numbers, TablesAreFineWhereTheFunctionMoves) {
  const FunctionTable gelu = make_table(fb::ActivationKind::gelu, -20.0f, 6.0f, false);
  EXPECT_GT(gelu.low, -4.0);
  EXPECT_NEAR(gelu.low + 255 * gelu.step, 6.0, 1e-4);
  const std::vector<float> at = activate(fb::ActivationKind::gelu, {1.0f});
  const auto v = static_cast<size_t>(std::lround((1.0 - gelu.low) / gelu.step));
  EXPECT_NEAR((gelu.values[v] - gelu.zero) * gelu.scale, double{at[0]}, gelu.step + gelu.scale);
  const FunctionTable tanh = make_table(fb::ActivationKind::tanh, -9.0f, 2.0f, true);
  EXPECT_EQ(tanh.zero, 0);
  EXPECT_NEAR(tanh.scale * 127, 1.0, 1e-3);
}

}  // namespace
}  // namespace bantam::convert
