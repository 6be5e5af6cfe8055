// Every family of the registry with every head: random weights for its roles convert, and the file gives the answers of
// an independent evaluation of the graph. Its students convert too. The golden models verify what the graph computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "calibrate/sensitivity.h"
#include "calibrate/static_ranges.h"
#include "describe/components.h"
#include "firmware/linked.h"
#include "golden/tiny.h"
#include "quantize/static.h"
#include "student/draft.h"
#include "student/structured.h"

namespace bantam::golden::families_test {
namespace {

class Families : public ::testing::TestWithParam<const Family*> {
 protected:
  template <typename Use>
  static void for_each_model(const Use& use) {
    const Family& family = *GetParam();
    for (const Head& head : family.heads) {
      for (const uint32_t embedding : {10U, kHidden}) {
        if (embedding != kHidden && (family.settings.embedding.key == nullptr || shares_wide_words(head))) continue;
        SCOPED_TRACE(convert::typed_name(static_cast<TaskKind>(head.task)) + " of " + std::to_string(embedding));
        use(Tiny(family, head, embedding, true));
        if (family.block.optional_biases) use(Tiny(family, head, embedding, false));
        if (family.has(Slot::kDistanceKeys)) use(Tiny(family, head, embedding, true, "relative_key_query"));
      }
    }
  }
};

TEST_P(Families, ConvertAndAnswer) {
  for_each_model([](const Tiny& model) {
    const convert::Graph graph = convert::import_source(model.source(), model.options());
    const auto inputs =
        samples(model.config().segments, kVocabulary, graph.model.max_sequence, model.is_pair(), model.takes_marks());
    EXPECT_EQ(graph.model.max_sequence + model.config().first_position,
              kPositions + GetParam()->settings.positions_in_front);
    EXPECT_LE(compare(graph, fb::DType::f32, inputs).largest, kLargestDifference);
    // With distance biases in each layer, a tiny model's answers depend on fewer values, so rounding errors weigh more.
    const bool sensitive = GetParam()->model_types.front() == std::string("umt5");
    EXPECT_GE(compare(graph, fb::DType::i8, inputs).cosine(), sensitive ? 0.97 : kSmallestCosine);
  });
}

TEST_P(Families, KeepTheirNamesAndLeaveNothingOver) {
  for_each_model([](const Tiny& model) {
    const convert::Graph graph = convert::import_source(model.source(), model.options());
    std::map<std::string, int> names;
    for (const auto& op : graph.model.subgraphs.front()->ops) ++names[op->name];
    for (const auto& [name, count] : names) EXPECT_EQ(count, 1) << name;
    if (GetParam()->why_no_draft() != nullptr) return;
    convert::Draft draft(model.source());
    EXPECT_EQ(draft.tensors().size(), model.source().checkpoint->tensors().size());
    EXPECT_TRUE(draft.notes().empty());
  });
}

/// Narrows every axis at once; in encoder-decoders, each side loses a layer.
TEST_P(Families, StudentsAnswer) {
  if (const char* why = GetParam()->why_no_draft()) {
    const Tiny model(*GetParam(), GetParam()->heads.front(), kHidden, true);
    try {
      const convert::Draft draft(model.source());
      ADD_FAILURE() << "was not refused";
    } catch (const convert::Error& error) {
      EXPECT_EQ(error.code(), convert::ExitCode::kUnsupported) << error.what();
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
    return;
  }
  if (GetParam()->source != nullptr) {
    for_each_model([](const Tiny& model) {
      for (const auto& [encoder, decoder] : {std::pair(false, true), std::pair(true, false), std::pair(true, true)}) {
        convert::Draft draft(model.source());
        if (encoder) draft.keep_layers({1}, convert::LayerStack::kSource);
        if (decoder) draft.keep_layers({1});
        const convert::LayoutSize size = draft.size();
        EXPECT_EQ(size.layers, encoder ? 1U : 2U);
        EXPECT_EQ(size.decoder_layers, decoder ? 1U : 2U);
        const convert::Graph graph = convert::import_source(draft.source(), model.options());
        const auto inputs = samples(0, kVocabulary, graph.model.max_sequence, model.is_pair(), false);
        EXPECT_LE(compare(graph, fb::DType::f32, inputs).largest, kLargestDifference);
      }
    });
    return;
  }
  for_each_model([](const Tiny& model) {
    convert::Draft draft(model.source());
    const auto first = [](uint32_t count) {
      convert::Indices kept;
      for (uint32_t i = 0; i < count; ++i) kept.push_back(i);
      return kept;
    };
    draft.keep(Axis::kVocabulary, 0, first(30));
    draft.keep(Axis::kPositions, 0, first(draft.config().first_position + 9));
    const Family& family = *GetParam();
    for (uint32_t layer = 0; layer < draft.config().layers; ++layer) {
      if (family.why_columns_stay() == nullptr) draft.keep(Axis::kFfn, layer, first(12));
      if (family.why_heads_stay() != nullptr) continue;
      draft.keep(Axis::kScores, layer, first(12));
      draft.keep(Axis::kValues, layer, first(12));
      draft.set_heads(layer, 2);
    }
    if (family.why_layers_stay() == nullptr) draft.keep_layers({1});
    if (family.why_hidden_stays() == nullptr) draft.keep(Axis::kHidden, 0, first(15));
    convert::ImportOptions options = model.options();
    if (model.finds()) options.max_tokens = 9;  // for texts of any length
    const convert::Graph graph = convert::import_source(draft.source(), options);
    EXPECT_EQ(graph.model.max_sequence, 9U);
    const auto inputs = samples(model.config().segments, 30, 9, model.is_pair(), model.takes_marks());
    EXPECT_LE(compare(graph, fb::DType::f32, inputs).largest, kLargestDifference);
  });
}

/// Prunes structures by magnitude, or expects an error that says why the family cannot be pruned.
TEST_P(Families, PruneOrSayWhyNot) {
  if (GetParam()->why_no_draft() != nullptr) return;
  for_each_model([](const Tiny& model) {
    for (const auto pattern : {convert::PrunePattern::kHeads, convert::PrunePattern::kFfn}) {
      convert::PruneOptions options;
      options.pattern = pattern;
      options.share = 0.2;
      options.by_activation = false;
      convert::Draft draft(model.source());
      const bool heads = pattern == convert::PrunePattern::kHeads;
      const char* why = heads ? GetParam()->why_heads_stay() : GetParam()->why_columns_stay();
      if (why != nullptr) {
        try {
          convert::prune_structures(draft, options, {});
          ADD_FAILURE() << "was not refused";
        } catch (const convert::Error& error) {
          EXPECT_EQ(error.code(), convert::ExitCode::kUnsupported);
          EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
        }
        continue;
      }
      const convert::StructureReport report = convert::prune_structures(draft, options, {});
      EXPECT_LT(report.parameters_after, report.parameters_before);
      const convert::Graph graph = convert::import_source(draft.source(), model.options());
      const auto inputs =
          samples(model.config().segments, kVocabulary, graph.model.max_sequence, model.is_pair(), model.takes_marks());
      EXPECT_LE(compare(graph, fb::DType::f32, inputs).largest, kLargestDifference);
    }
  });
}

/// Every byte of a file belongs to a component, and its image links what the family needs.
TEST_P(Families, ReportsAndImagesKnowThem) {
  for_each_model([](const Tiny& model) {
    const convert::FileBytes bytes =
        convert::build(convert::import_source(model.source(), model.options()), convert::TypeOptions());
    Model file;
    ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &file, nullptr), Status::kOk);
    uint64_t size = 0;
    for (const convert::Component& component : convert::file_components(file)) size += component.bytes;
    EXPECT_EQ(size, bytes.size());
    const std::vector<std::string> words = firmware::linked_by(file).words;
    const auto links = [&](const char* what) { return std::find(words.begin(), words.end(), what) != words.end(); };
    const Family& family = *GetParam();
    EXPECT_EQ(links("biases by distance"), family.has(Slot::kDistances) || family.block.shifted);
    EXPECT_EQ(links("biases by slopes"), family.settings.slopes);
    EXPECT_EQ(links("rotary positions"), family.settings.rotary.otherwise != 0);
    EXPECT_EQ(links("scores of places"),
              family.block.places || family.block.shifted || model.config().relative.vectors);
    EXPECT_EQ(links("keys of segments"), family.has(Slot::kSegmentKeys));
    const std::string own = own_layers(family);
    const bool evolved = own == "evolved_transformer";
    EXPECT_EQ(links("unfold"), model.config().convolution != 0 || own == "textcnn" || own == "nplm" || evolved);
    const bool beside = family.has(Slot::kSpanValues), scans = is_mamba(family) || is_rwkv(family);
    const bool convolved = model.config().value_taps != 0 || model.config().short_taps != 0 || beside;
    EXPECT_EQ(links("scan"), scans || family.has(Slot::kStateRates));
    EXPECT_EQ(links("states"), scans || model.config().short_taps != 0);
    EXPECT_EQ(links("depthwise"), evolved || convolved || scans);
    EXPECT_EQ(links("join"), own == "elmo" || evolved || family.block.reversible || beside);
    EXPECT_EQ(links("chunk attention"), family.block.reversible);
    EXPECT_EQ(links("norms of queries and keys"), family.has(Slot::kQueryNorm));
    EXPECT_EQ(links("experts"), family.has(Slot::kRouter));
    EXPECT_EQ(links("gates"), family.has(Slot::kGate) || family.has(Slot::kExpertGate) || family.has(Slot::kEntities) ||
                                  evolved || convolved || scans || model.reads_question());
    EXPECT_EQ(links("sinks of scores"), family.has(Slot::kSinks));
    EXPECT_EQ(links("marked mask"), family.has(Slot::kEntities));
    EXPECT_EQ(links("globals mask"), family.has(Slot::kGlobalQuery));
    EXPECT_EQ(links("blocks mask"), family.settings.blocks);
    EXPECT_EQ(links("marks"), model.takes_marks());
    EXPECT_EQ(links("scores that are capped"), family.settings.soft_cap != nullptr);
    const bool by_sums = family.block.features || family.block.projected;
    EXPECT_EQ(links("linear attention"), by_sums);
    EXPECT_EQ(links("key sums"), by_sums);
    EXPECT_EQ(links("attention"), !by_sums && !family.block.reversible && !family.block.averaged &&
                                      !is_recurrent(family) && !scans && own != "textcnn" && own != "nplm" &&
                                      own != "fnet");
    EXPECT_EQ(links("fourier"), own == "fnet");
    EXPECT_EQ(links("recurrent"), is_recurrent(family) || family.has(Slot::kForget) || model.finds());
  });
}

/// Models without an integer form are refused with a name and the next step; answers of the others are close to those
/// in floats.
TEST_P(Families, AreStaticOrSayWhyNot) {
  for_each_model([](const Tiny& model) {
    const Family& family = *GetParam();
    const convert::Graph graph = convert::import_source(model.source(), model.options());
    const bool refused =
        model.is_pair() || family.has(Slot::kDistances) || family.has(Slot::kGate) || family.block.places ||
        family.block.shifted || model.config().relative.vectors || family.block.bottlenecks || family.block.averaged ||
        is_recurrent(family) || own_layers(family) == "textcnn" || own_layers(family) == "evolved_transformer" ||
        own_layers(family) == "fnet" || family.has(Slot::kEntities) || family.has(Slot::kGlobalQuery) ||
        family.settings.blocks || family.has(Slot::kValueConvolution) || family.has(Slot::kSpanValues) ||
        family.block.features || family.block.norm_before_all || family.block.words_normed || family.settings.slopes ||
        family.settings.rotary.otherwise != 0 || family.block.projected || family.block.reversible ||
        !family.has(Slot::kEmbeddingNorm) || !model.has_biases() || model.gives_words() ||
        model.gives_token_vectors() || model.finds() || model.reads_question();
    try {
      convert::check_static(graph);
      EXPECT_FALSE(refused);
    } catch (const convert::Error& error) {
      EXPECT_TRUE(refused) << error.what();
      EXPECT_EQ(error.code(), convert::ExitCode::kUnsupported);
      EXPECT_NE(std::string(error.what()).find("; "), std::string::npos) << error.what();
      return;
    }
    const uint32_t longest = graph.model.max_sequence;
    const auto choose = [&](convert::Runner&) {
      return samples(model.config().segments, kVocabulary, longest, false, model.takes_marks());
    };
    const convert::StaticRanges ranges =
        convert::measure_static(convert::unfuse(graph), {}, longest, choose, [](double) {});
    const convert::Built built = convert::build_static(graph, ranges);
    convert::Runner runner(built.bytes, longest);
    Agreement found;
    for (const convert::Sample& sample :
         samples(model.config().segments, kVocabulary, longest, false, model.takes_marks())) {
      const auto expected = evaluate(graph, sample.ids, sample.segments);
      for (const convert::OutputRows& output : runner.run(sample)) add(expected.at(output.name), output, &found);
    }
    EXPECT_GE(found.cosine(), kSmallestStaticCosine);
  });
}

TEST_P(Families, SensitivityMeasuresEveryMatrix) {
  const Family& family = *GetParam();
  const Head* classify = family.head(fb::TaskKind::classify);
  const Tiny model(family, classify != nullptr ? *classify : family.heads.front(), kHidden, true);
  const convert::Graph graph = convert::import_source(model.source(true), model.options(true));
  const std::vector<convert::LabelledText> texts = {{"h i j", "", "", ""}, {"k", "l m", "", ""}};
  const convert::Sensitivity measured =
      convert::measure_sensitivity(graph, texts, {fb::DType::i8, fb::DType::i4}, [](double) {});
  EXPECT_FALSE(measured.matrices.empty());
  for (const convert::MatrixCosts& costs : measured.matrices) {
    EXPECT_FALSE(costs.types.empty()) << costs.name;
    for (const convert::TypeCost& cost : costs.types) EXPECT_TRUE(std::isfinite(cost.divergence)) << costs.name;
  }
}

std::vector<const Family*> all_families() {
  std::vector<const Family*> all;
  for (const Family& family : convert::families()) {
    if (!family.block.patches) all.push_back(&family);  // images_test.cpp
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, Families, ::testing::ValuesIn(all_families()), [](const auto& family) {
  std::string name = family.param->model_types.front();
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace bantam::golden::families_test
