#include "golden/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "golden/expected.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "run/runner.h"

namespace bantam::golden {

void compare(const std::filesystem::path& directory, fb::DType weights,
             const std::function<void(const std::string&, double, double)>& use, size_t stride) {
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
    sample.neighbours = expected.neighbours;
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

void expect_equal(const std::filesystem::path& directory, size_t stride) {
  double largest = 0;
  size_t count = 0;
  compare(
      directory, fb::DType::f32,
      [&](const std::string&, double expected, double actual) {
        // Written so that a NaN fails, although no comparison with it is true.
        if (!(std::abs(expected - actual) <= largest)) largest = std::abs(expected - actual);
        ++count;
      },
      stride);
  EXPECT_GT(count, 0U);
  EXPECT_LE(largest, kLargestDifference);
  ::testing::Test::RecordProperty("largest_difference", std::to_string(largest));
}

}  // namespace bantam::golden
