// Structured pruning: which heads and columns are removed, and that nothing else changes.
#include "student/structured.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "calibrate/static_ranges.h"
#include "converter/import_fixture.h"
#include "data/texts.h"
#include "graph/access.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "quantize/static.h"
#include "score/compare.h"
#include "student/narrow.h"
#include "tests/effort.h"

namespace bantam::convert {
namespace {

using fixture::problems_of;

const std::string kGolden = std::string(BANTAM_SOURCE_DIR) + "/tests/golden/models/";

Draft draft_of(const std::string& model) { return Draft(open_model_source(kGolden + model)); }

PruneOptions options_of(PrunePattern pattern, double share, PruneScope scope, bool measured) {
  PruneOptions options;
  options.pattern = pattern;
  options.share = share;
  options.scope = scope;
  options.by_activation = measured;
  return options;
}

/// Few texts, because sanitizer builds run these too.
std::vector<std::string> some_texts() { return spread(calibration_texts(), 10); }

Probe probe_of(const Draft& draft) {
  Probe probe = make_probe(draft, "", "");
  probe.texts = some_texts();
  return probe;
}

/// Returns the largest difference between the f32 answers of two models.
float difference(const Graph& reference, const Graph& other) {
  TypeOptions exact;
  exact.weights = fb::DType::f32;
  const FileBytes a = build(reference, exact), b = build(other, exact);
  Runner expected(a, 32), got(b, 32);
  Comparer comparer(reference.model, "the other");
  for (const std::string& text : some_texts()) {
    comparer.add(expected.encode(text), expected.run(expected.encode(text)), got.run(got.encode(text)));
  }
  float largest = 0;
  for (const OutputComparison& output : comparer.result().outputs) {
    largest = std::max(largest, output.largest_difference);
  }
  return largest;
}

/// Returns the graph with the matrix columns that read the removed units set to 0, and the bias of the pruned model.
Graph silenced(Draft draft, Draft& pruned, const StructureReport& report) {
  const bool heads = report.options.pattern == PrunePattern::kHeads;
  const Slot slot = heads ? Slot::kAttentionOut : Slot::kDown;
  const size_t width = heads ? draft.config().head_width : 1;
  for (uint32_t layer = 0; layer < report.removed.size(); ++layer) {
    MemoryTensor& matrix = draft.weight(layer, slot);
    const auto columns = static_cast<size_t>(matrix.shape[1]);
    for (size_t i = 0; i < matrix.values.size(); ++i) {
      const auto unit = static_cast<uint32_t>(i % columns / width);
      const Indices& gone = report.removed[layer];
      if (std::binary_search(gone.begin(), gone.end(), unit)) matrix.values[i] = 0;
    }
    draft.bias(layer, slot) = pruned.bias(layer, slot);
  }
  return import_source(draft.source());
}

const std::vector<double> kShares =
    bantam::testing::kSlowed ? std::vector<double>{0.55} : std::vector<double>{0.2, 0.55};

TEST(Structured, IsTheModelWithColumnsOfZero) {
  for (const char* model : {"bert-joint", "distilbert-tag"}) {
    Draft whole = draft_of(model);
    const Probe probe = probe_of(whole);
    for (const PrunePattern pattern : {PrunePattern::kHeads, PrunePattern::kFfn}) {
      for (const PruneScope scope : {PruneScope::kGlobal, PruneScope::kUniform}) {
        for (const bool measured : {false, true}) {
          for (const double share : kShares) {
            SCOPED_TRACE(std::string(model) + " " + pattern_name(pattern));
            Draft pruned = whole;
            const StructureReport report = prune_structures(pruned, options_of(pattern, share, scope, measured), probe);
            const Graph expected = silenced(whole, pruned, report);
            EXPECT_LT(difference(expected, import_source(pruned.source())), 1e-4F);
            EXPECT_GT(difference(import_source(whole.source()), expected), 1e-3F);
            EXPECT_LT(report.parameters_after, report.parameters_before);
            if (measured) continue;  // biases have changed
            const Slot slot = pattern == PrunePattern::kHeads ? Slot::kAttentionOut : Slot::kDown;
            EXPECT_EQ(pruned.bias(0, slot).values, whole.bias(0, slot).values);
          }
        }
      }
    }
  }
}

TEST(Structured, TakesTheShareOfAllOrOfEach) {
  const Draft whole = draft_of("bert-classify");  // 3 layers of 5 heads, 72 columns
  for (const double share : {0.01, 0.2, 0.4, 0.5, 0.77}) {
    const auto removed = [&](PrunePattern pattern, PruneScope scope) {
      Draft pruned = whole;
      return prune_structures(pruned, options_of(pattern, share, scope, false), {}).removed;
    };
    size_t all = 0;
    for (const Indices& gone : removed(PrunePattern::kHeads, PruneScope::kGlobal)) {
      EXPECT_LE(gone.size(), 4U);
      all += gone.size();
    }
    EXPECT_EQ(all, static_cast<size_t>(std::ceil(share * 15 - 1e-9))) << share;
    for (const Indices& gone : removed(PrunePattern::kHeads, PruneScope::kUniform)) {
      EXPECT_EQ(gone.size(), static_cast<size_t>(std::ceil(share * 5 - 1e-9))) << share;
    }
    all = 0;
    for (const Indices& gone : removed(PrunePattern::kFfn, PruneScope::kGlobal)) {
      EXPECT_TRUE(gone.empty() || (72 - gone.size()) % kFfnStep == 0);
      EXPECT_LE(gone.size(), 72U - kFfnStep);
      all += gone.size();
    }
    EXPECT_GE(static_cast<double>(all), share * 216);
    EXPECT_LT(static_cast<double>(all), share * 216 + kFfnStep);
    for (const Indices& gone : removed(PrunePattern::kFfn, PruneScope::kUniform)) {
      EXPECT_EQ(gone.size(), 72 - static_cast<size_t>(72 * (1 - share)) / kFfnStep * kFfnStep) << share;
    }
  }
}

TEST(Structured, TakesUnitsWithTheSmallestWeights) {
  Draft draft = draft_of("bert-joint");
  const auto shrink = [&](Slot slot, size_t begin, size_t end) {  // rows
    MemoryTensor& matrix = draft.weight(1, slot);
    const auto columns = static_cast<size_t>(matrix.shape[1]);
    for (size_t i = begin * columns; i < end * columns; ++i) matrix.values[i] *= 0.01F;
  };
  shrink(Slot::kValue, 3 * 8, 4 * 8);
  for (size_t column = 0; column < 24; ++column) shrink(Slot::kUp, 3 * column, 3 * column + 1);
  Draft heads = draft;
  const auto no_heads = prune_structures(heads, options_of(PrunePattern::kHeads, 0.1, PruneScope::kGlobal, false), {});
  EXPECT_EQ(no_heads.removed[1], (Indices{3}));
  const auto no_ffn = prune_structures(draft, options_of(PrunePattern::kFfn, 0.3, PruneScope::kUniform, false), {});
  ASSERT_EQ(no_ffn.removed[1].size(), 24U);
  for (const uint32_t column : no_ffn.removed[1]) EXPECT_EQ(column % 3, 0U);
}

TEST(Structured, SharedLayersStayAlike) {
  Draft draft = draft_of("bert-classify");
  draft.share({0, 0, 0});
  const std::string problem = problems_of(ExitCode::kUsage, [&] {
    Draft copy = draft;
    prune_structures(copy, options_of(PrunePattern::kHeads, 0.4, PruneScope::kGlobal, false), {});
  });
  EXPECT_NE(problem.find("--prune-scope uniform"), std::string::npos);
  const Probe probe = probe_of(draft);
  const auto report = prune_structures(draft, options_of(PrunePattern::kHeads, 0.4, PruneScope::kUniform, true), probe);
  EXPECT_EQ(report.removed[0], report.removed[1]);
  EXPECT_EQ(report.removed[0], report.removed[2]);
  Draft apart = draft;
  apart.weight(1, Slot::kDown).values.front() += 1;
  EXPECT_LT(build(import_source(draft.source())).size(), build(import_source(apart.source())).size());
}

TEST(Structured, SaysWhatIsWrong) {
  Draft draft = draft_of("bert-joint");
  const auto problem = [&](PrunePattern pattern, double share, PruneScope scope) {
    return problems_of(ExitCode::kUsage,
                       [&] { prune_structures(draft, options_of(pattern, share, scope, false), {}); });
  };
  for (const PruneScope scope : {PruneScope::kGlobal, PruneScope::kUniform}) {
    EXPECT_NE(problem(PrunePattern::kHeads, 0.9, scope).find("at most 0.8"), std::string::npos);
    EXPECT_NE(problem(PrunePattern::kFfn, 0.9, scope).find("at most 0.777"), std::string::npos);
    EXPECT_NE(problem(PrunePattern::kFfn, 1.0, scope).find("below 1"), std::string::npos);
  }
  EXPECT_EQ(draft.size().encoder_parameters, draft_of("bert-joint").size().encoder_parameters);
  ModelSource mute = open_model_source(kGolden + "bert-joint");
  mute.tokenizer = {};
  Draft without(mute);
  const auto options = options_of(PrunePattern::kHeads, 0.4, PruneScope::kGlobal, true);
  EXPECT_NE(
      problems_of(ExitCode::kInvalid, [&] { prune_structures(without, options, {}); }).find("--prune-by magnitude"),
      std::string::npos);
}

// Layers with different widths work in every form of a file: the verifier, the plans, int8, int4 and integers only.
TEST(Structured, EveryFormTakesUnequalWidths) {
  Draft draft = draft_of("bert-joint");
  const Probe probe = probe_of(draft);
  prune_structures(draft, options_of(PrunePattern::kHeads, 0.5, PruneScope::kGlobal, true), probe);
  prune_structures(draft, options_of(PrunePattern::kFfn, 0.4, PruneScope::kGlobal, true), probe);
  const Graph graph = import_source(draft.source());
  for (const fb::DType weights : {fb::DType::i8, fb::DType::i4, fb::DType::f16}) {
    for (const Plan plan : {Plan::kFast, Plan::kSmall}) {
      if (weights == fb::DType::f16 && plan == Plan::kSmall) continue;
      TypeOptions options;
      options.weights = weights;
      options.plan = plan;
      const FileBytes bytes = build(graph, options);
      Runner runner(bytes, 32);
      EXPECT_FALSE(runner.run(runner.encode("play some jazz")).empty());
    }
  }
  for (const bool small : {false, true}) {
    const Graph split = small ? split_for_small_plan(graph) : clone(graph);
    const Graph unfused = unfuse(split);
    const auto choose = [](Runner& runner) { return std::vector<Sample>{runner.encode("play some jazz")}; };
    const StaticRanges ranges = measure_static(unfused, {}, 32, choose, [](double) {});
    const FileBytes bytes = build_static(split, ranges, small).bytes;
    Runner runner(bytes, 32);
    EXPECT_FALSE(runner.run(runner.encode("play some jazz")).empty());
  }
}

}  // namespace
}  // namespace bantam::convert
