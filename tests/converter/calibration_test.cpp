// Temperature and rejection limit of a classifier's scores.
#include "calibrate/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "converter/import_fixture.h"
#include "import/hugging_face.h"
#include "pack/build.h"

namespace bantam::convert {
namespace {

using fixture::problems_of;

/// Returns texts of two labels whose logits differ by `margin`, of which `right` in a hundred are right.
std::vector<Scored> texts(float margin, int right) {
  std::vector<Scored> data;
  data.reserve(100);
  for (int i = 0; i < 100; ++i) data.push_back({{margin, 0.0F}, i < right ? 0 : 1});
  return data;
}

TEST(FitScores, FindsTheTemperatureThatFrequenciesAskFor) {
  // Right 80 of 100 times: sigmoid(4 / T) = 0.8, so T = 4 / ln 4.
  const ScoreCalibration found = fit_scores(texts(4, 80), 0);
  EXPECT_NEAR(found.temperature, 4 / std::log(4.0), 2e-3);
  EXPECT_LT(found.after.loss, found.before.loss);
  EXPECT_NEAR(found.before.error, 1 / (1 + std::exp(-4.0)) - 0.8, 1e-6);
  EXPECT_NEAR(found.after.error, 0, 1e-3);
  EXPECT_LT(fit_scores(texts(0.5F, 95), 0).temperature, 1);
}

TEST(FitScores, StaysInItsRange) {
  EXPECT_NEAR(fit_scores(texts(4, 100), 0).temperature, 0.05, 1e-3);
  EXPECT_NEAR(fit_scores(texts(4, 0), 0).temperature, 20, 1e-2);
}

TEST(FitScores, RejectsAsMuchAsItMay) {
  std::vector<Scored> data;
  data.reserve(100);
  for (int i = 0; i < 100; ++i) data.push_back({{static_cast<float>(i) / 25, 0.0F}, i % 10 == 9 ? 1 : 0});
  const ScoreCalibration none = fit_scores(data, 0);
  EXPECT_EQ(none.rejected_right, 0);
  const ScoreCalibration some = fit_scores(data, 0.2);
  EXPECT_GT(some.reject_below, none.reject_below);
  EXPECT_LE(some.rejected_right, 0.2);
  EXPECT_GT(some.rejected_right, 0.1);
}

TEST(FitScores, TellsTextsOutOfScope) {
  std::vector<Scored> data = texts(6, 99);
  for (int i = 0; i < 50; ++i) data.push_back({{0.2F, 0.0F}, -1});
  const ScoreCalibration found = fit_scores(data, 0);
  EXPECT_EQ(found.out_of_scope, 50U);
  EXPECT_EQ(found.texts, 100U);
  EXPECT_EQ(found.rejected_out_of_scope, 1);
  EXPECT_EQ(found.rejected_right, 0);
}

TEST(CalibrateScores, PutsThemIntoTheFile) {
  const Graph graph = import_hugging_face(std::string(BANTAM_SOURCE_DIR) + "/tests/golden/models/bert-classify");
  const FileBytes bytes = build(graph);
  std::vector<LabelledText> data;
  data.reserve(31);
  for (int i = 0; i < 30; ++i) data.push_back({"a film " + std::to_string(i), "", i % 2 == 0 ? "0" : "1", ""});
  data.push_back({"what is the time", "", "oos", ""});
  const auto quiet = [](double) {};
  const ScoreCalibration found = calibrate_scores(graph.model, bytes, data, 0.01, quiet);
  EXPECT_EQ(found.texts, 30U);
  EXPECT_EQ(found.out_of_scope, 1U);
  const FileBytes changed = with_calibration(bytes, found);
  Model model;
  ASSERT_EQ(Model::open(changed.data(), changed.size(), &model), Status::kOk);
  EXPECT_NE(changed, bytes);
  data.resize(10);
  EXPECT_NE(problems_of(ExitCode::kInvalid, [&] { calibrate_scores(graph.model, bytes, data, 0.01, quiet); })
                .find("at least 20"),
            std::string::npos);
  const Graph regression = import_hugging_face(std::string(BANTAM_SOURCE_DIR) + "/tests/golden/models/bert-regress");
  EXPECT_NE(problems_of(ExitCode::kUnsupported, [&] { calibrate_scores(regression.model, bytes, data, 0.01, quiet); })
                .find("one label"),
            std::string::npos);
}

}  // namespace
}  // namespace bantam::convert
