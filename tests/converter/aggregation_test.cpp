// The aggregation of labels that a conversion chooses.
#include <gtest/gtest.h>

#include "graph/aggregation.h"
#include "import/hugging_face.h"
#include "tests/converter/import_fixture.h"

namespace bantam::convert::fixture {
namespace {

const std::string kTaggers = std::string(BANTAM_SOURCE_DIR) + "/tests/golden/models/";

/// Returns the aggregation of the last label set of a golden model.
fb::Aggregation chosen(const std::string& name, const ImportOptions& options = {}) {
  const Graph graph = import_hugging_face(kTaggers + name, options);
  EXPECT_FALSE(graph.model.task->blank_words) << name;
  return graph.model.task->label_sets.back()->aggregation;
}

TEST(ChosenAggregation, FollowsTheTokenizer) {
  EXPECT_EQ(chosen("aggregation-bert"), fb::Aggregation::first);
  EXPECT_EQ(chosen("aggregation-distilbert"), fb::Aggregation::first);
  EXPECT_EQ(chosen("aggregation-roberta"), fb::Aggregation::simple);
  EXPECT_EQ(chosen("aggregation-xlm-roberta"), fb::Aggregation::simple);
}

TEST(ChosenAggregation, OfChainsAndIntentsIsOurOwn) {
  EXPECT_EQ(chosen("bert-tag-crf"), fb::Aggregation::words);
  EXPECT_EQ(chosen("bert-joint"), fb::Aggregation::words);
}

TEST(ChosenAggregation, OfSchemesThatTransformersReadsOtherwiseIsOurOwn) {
  ImportOptions options;
  options.tag_scheme = "bioes";
  EXPECT_EQ(chosen("aggregation-bert", options), fb::Aggregation::words);
  options.tag_scheme = "plain";
  EXPECT_EQ(chosen("aggregation-bert", options), fb::Aggregation::words);
  options.tag_scheme = "iob1";
  EXPECT_EQ(chosen("aggregation-bert", options), fb::Aggregation::first);
}

TEST(ChosenAggregation, IsWhatTheCallerAsksFor) {
  for (const auto& [name, aggregation] : aggregation_words()) {
    ImportOptions options;
    options.aggregation = name;
    EXPECT_EQ(chosen("aggregation-roberta", options), static_cast<fb::Aggregation>(aggregation)) << name;
    EXPECT_EQ(chosen("bert-joint", options), static_cast<fb::Aggregation>(aggregation)) << name;
  }
}

TEST(ChosenAggregation, RefusesOtherNamesAndModelsWithoutLabelsOfWords) {
  ImportOptions options;
  options.aggregation = "simple";
  const std::string text = problems_of(ExitCode::kUsage, [&] { chosen("bert-classify", options); });
  EXPECT_NE(text.find("--aggregation"), std::string::npos) << text;
  options.aggregation = "last";
  const std::string name = problems_of(ExitCode::kUsage, [&] { chosen("aggregation-bert", options); });
  EXPECT_NE(name.find("\"last\" is not one of"), std::string::npos) << name;
  EXPECT_EQ(parse_aggregation("--aggregation", ""), Aggregation::kFile);
}

}  // namespace
}  // namespace bantam::convert::fixture
