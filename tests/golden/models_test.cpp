// The whole way against transformers: import, lower, pack, open, run. As f32, each committed model gives the answers of
// the original library; as int8, it gives nearly the same vectors.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "golden/compare.h"
#include "golden/expected.h"
#include "import/hugging_face.h"
#include "pipeline/convert.h"

namespace bantam::golden::models_test {
namespace {

/// The smallest cosine for an int8 file, over all values of one output of one model. These models have widths of a few
/// dozen and random weights, so an int8 step matters far more than in a trained model hundreds wide.
constexpr double kSmallestCosine = 0.997;
/// The smallest cosine for models of width 18, which have no tokenizer.
constexpr double kSmallestCosineOfNarrow = 0.98;

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, F32EqualsTransformers) { expect_equal(model_directory(GetParam())); }

TEST_P(Golden, Int8PointsTheSameWay) {
  struct Sums {
    double both = 0, expected = 0, actual = 0;
  };
  std::map<std::string, Sums> outputs;
  compare(model_directory(GetParam()), fb::DType::i8, [&](const std::string& name, double expected, double actual) {
    Sums& sums = outputs[name];
    sums.both += expected * actual;
    sums.expected += expected * expected;
    sums.actual += actual * actual;
  });
  EXPECT_FALSE(outputs.empty());
  for (const auto& [name, sums] : outputs) {
    // The models without a tokenizer.
    const bool narrow = convert::import_hugging_face(model_directory(GetParam())).model.tokenizers.empty();
    const double cosine = sums.both / std::sqrt(sums.expected * sums.actual);
    EXPECT_GE(cosine, narrow ? kSmallestCosineOfNarrow : kSmallestCosine) << name;
    RecordProperty(name + "_cosine", std::to_string(cosine));
  }
}

/// Does the work of `bantam convert --weights f32 --expect expected.jsonl` for every head.
TEST_P(Golden, ConvertComparesWithExpected) {
  const auto directory = model_directory(GetParam());
  const auto folder = std::filesystem::path(::testing::TempDir());
  convert::ConvertOptions options;
  options.source = directory;
  options.output = folder / ("golden-" + GetParam() + ".bantam");
  options.types.weights = fb::DType::f32;
  options.parity = "none";
  options.expect = directory / "expected.jsonl";
  options.max_label_flips = 1e-6;
  const convert::Report report = convert::convert(options);
  EXPECT_TRUE(report.gate_failures.empty()) << report.gate_failures.front();
  EXPECT_EQ(report.expected.texts, read_expected(options.expect).size());
  for (const auto& output : report.expected.outputs) {
    EXPECT_LE(static_cast<double>(output.largest_difference), kLargestDifference) << output.name;
    EXPECT_GE(output.cosine, 0.999999) << output.name;
  }
  EXPECT_EQ(std::filesystem::file_size(options.output), report.file_bytes);
  std::filesystem::remove(options.output);
}

INSTANTIATE_TEST_SUITE_P(Models, Golden, ::testing::ValuesIn(model_names()), test_name);

}  // namespace
}  // namespace bantam::golden::models_test
