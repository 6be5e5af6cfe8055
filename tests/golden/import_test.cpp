// The importer against transformers, without the runtime: the graph of each committed model, evaluated in double
// precision, gives the answers of the original library.
#include <gtest/gtest.h>

#include "golden/evaluate.h"
#include "golden/expected.h"
#include "import/hugging_face.h"

namespace bantam::golden::import_test {
namespace {

// Both sides compute in double precision. Differences come from f32 constants (the attention scale, angles of rotary
// positions) and from the eight digits of the committed answers.
constexpr double kTolerance = 5e-6;

class ImportGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(ImportGolden, EqualsTransformers) {
  const auto directory = model_directory(GetParam());
  const convert::Graph graph = convert::import_hugging_face(directory);
  const auto cases = read_expected(directory / "expected.jsonl");
  ASSERT_GE(cases.size(), 3U);
  for (const Case& expected : cases) {
    const auto outputs =
        evaluate(graph, expected.ids, expected.segments, expected.decoder_ids, expected.marks, expected.neighbours);
    EXPECT_EQ(outputs.size(), expected.outputs.size());
    for (const auto& [name, values] : expected.outputs) {
      ASSERT_EQ(outputs.count(name), 1U) << name;
      const Matrix& actual = outputs.at(name);
      const bool all = actual.values.size() == values.size();
      ASSERT_TRUE(all || values.size() == actual.width * expected.first_piece.size()) << name;
      for (size_t i = 0; i < values.size(); ++i) {
        const size_t row = i / actual.width;
        const double value = actual.at(all ? row : expected.first_piece[row], i % actual.width);
        ASSERT_NEAR(value, values[i], kTolerance * (1 + std::abs(values[i])))
            << name << " element " << i << " of " << expected.ids.size() << " tokens";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ImportGolden, ::testing::ValuesIn(model_names()), test_name);

}  // namespace
}  // namespace bantam::golden::import_test
