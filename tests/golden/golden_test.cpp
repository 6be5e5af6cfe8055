// The whole way against transformers: import, lower, pack, open, run. Each committed model as f32 gives what
// the original library answers; as int8 it points the same way. The larger models beside the project, where
// they are there, hold the f32 claim of the README.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "golden/expected.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "pipeline/convert.h"
#include "run/runner.h"
#include "tests/effort.h"

namespace bantam::golden {
namespace {

/// Of an f32 file against the library in double precision; also what the README promises for real models.
constexpr double kLargestDifference = 2e-4;
/// Of an int8 file: over all values of one output of one model. These models are a few dozen wide with random
/// weights, where an int8 step weighs far more than in a trained model hundreds wide.
constexpr double kSmallestCosine = 0.997;
/// Of models that are 18 wide, which come without a tokenizer.
constexpr double kSmallestCosineOfNarrow = 0.98;

/// The larger models run every n-th case. Sanitizers see the same code do the same with the smallest of them.
constexpr size_t kStride = testing::rounds(1, 25);

#if defined(BANTAM_SANITIZED)
const std::vector<std::string> kSharedModels = {"voice-commands"};
#else
const std::vector<std::string> kSharedModels = {"minilm-sst2", "minilm-snips-joint", "voice-commands"};
#endif

/// Calls use(name, expected value, value of the file) for every stored value of every case.
template <typename Use>
void compare(const std::filesystem::path& directory, fb::DType weights, const Use& use, size_t stride = 1) {
  convert::TypeOptions types;
  types.weights = weights;
  const convert::FileBytes bytes = convert::build(convert::import_hugging_face(directory), types);
  const auto cases = read_expected(directory / "expected.jsonl");
  size_t longest = 1;
  for (const Case& expected : cases) longest = std::max({longest, expected.ids.size(), expected.decoder_ids.size()});
  convert::Runner runner(bytes, static_cast<uint32_t>(longest));
  for (size_t i = 0; i < cases.size(); i += stride) {
    const Case& expected = cases[i];
    convert::Sample sample;
    sample.ids = expected.ids;
    sample.segments = expected.segments;
    sample.decoder_ids = expected.decoder_ids;
    sample.marks = expected.marks;
    const std::vector<convert::OutputRows> outputs = runner.run(sample);
    for (const auto& [name, values] : expected.outputs) {
      const auto found = std::find_if(outputs.begin(), outputs.end(),
                                      [&name = name](const auto& output) { return output.name == name; });
      ASSERT_NE(found, outputs.end()) << name;
      const bool all = values.size() == found->values.size();
      ASSERT_EQ(values.size() % found->width, 0U) << name;
      ASSERT_TRUE(all || values.size() / found->width <= expected.first_piece.size()) << name;
      for (size_t j = 0; j < values.size(); ++j) {
        const size_t row = j / found->width;
        const float value = found->row(all ? row : expected.first_piece[row])[j % found->width];
        use(name, values[j], static_cast<double>(value));
      }
    }
  }
}

void expect_equal(const std::filesystem::path& directory, size_t stride = 1) {
  double largest = 0;
  size_t count = 0;
  compare(
      directory, fb::DType::f32,
      [&](const std::string&, double expected, double actual) {
        // A NaN is never the larger one: written so that it fails.
        if (!(std::abs(expected - actual) <= largest)) largest = std::abs(expected - actual);
        ++count;
      },
      stride);
  EXPECT_GT(count, 0U);
  EXPECT_LE(largest, kLargestDifference);
  ::testing::Test::RecordProperty("largest_difference", std::to_string(largest));
}

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
    // Those without a tokenizer.
    const bool narrow = convert::import_hugging_face(model_directory(GetParam())).model.tokenizers.empty();
    const double cosine = sums.both / std::sqrt(sums.expected * sums.actual);
    EXPECT_GE(cosine, narrow ? kSmallestCosineOfNarrow : kSmallestCosine) << name;
    RecordProperty(name + "_cosine", std::to_string(cosine));
  }
}

/// What `bantam convert --weights f32 --expect expected.jsonl` does, for every head.
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

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Models, Golden, ::testing::ValuesIn(model_names()), test_name);

class SharedModel : public ::testing::TestWithParam<std::string> {};

TEST_P(SharedModel, F32EqualsTransformers) {
  const std::filesystem::path shared = shared_directory();
  if (shared.empty()) GTEST_SKIP() << "no folder of larger models: set BANTAM_SHARED to one";
  const std::filesystem::path directory = shared / "models" / GetParam();
  if (!std::filesystem::exists(directory / "expected.jsonl")) GTEST_SKIP() << directory << " is not there";
  expect_equal(directory, kStride);
}

INSTANTIATE_TEST_SUITE_P(Models, SharedModel, ::testing::ValuesIn(kSharedModels), test_name);

}  // namespace
}  // namespace bantam::golden
