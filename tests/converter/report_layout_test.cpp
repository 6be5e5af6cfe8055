// Treemaps, Pareto fronts and axes: properties for arbitrary values.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pages/chart.h"
#include "pages/pareto.h"
#include "pages/scatter.h"
#include "pages/treemap.h"

namespace bantam::convert {
namespace {

double shared(const Box& a, const Box& b) {
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  return std::max(0.0, width) * std::max(0.0, height);
}

RC_GTEST_PROP(Treemap, BoxesTileTheWholeInProportion, ()) {
  const auto numbers = *rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange(0U, 1U << 24));
  const Box whole{3, -7, static_cast<double>(*rc::gen::inRange(1, 2000)),
                  static_cast<double>(*rc::gen::inRange(1, 2000))};
  const std::vector<double> values(numbers.begin(), numbers.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const std::vector<Box> boxes = squarify(values, whole);
  RC_ASSERT(boxes.size() == values.size());
  if (sum == 0) return;
  const double slack = 1e-9 * whole.area();
  for (size_t i = 0; i < boxes.size(); ++i) {
    RC_ASSERT(std::fabs(boxes[i].area() - values[i] / sum * whole.area()) <= slack);
    RC_ASSERT(std::fabs(shared(boxes[i], whole) - boxes[i].area()) <= slack);  // nothing sticks out
    for (size_t k = 0; k < i; ++k) RC_ASSERT(shared(boxes[i], boxes[k]) <= slack);
  }
}

TEST(Treemap, IsThatOfThePaper) {
  // Figure 4: areas 6, 6, 4, 3, 2, 2, 1 in 6 x 4.
  const std::vector<Box> boxes = squarify({6, 6, 4, 3, 2, 2, 1}, {0, 0, 6, 4});
  const auto same = [&](size_t i, const Box& box) {
    EXPECT_NEAR(boxes[i].x, box.x, 1e-12) << i;
    EXPECT_NEAR(boxes[i].y, box.y, 1e-12) << i;
    EXPECT_NEAR(boxes[i].width, box.width, 1e-12) << i;
    EXPECT_NEAR(boxes[i].height, box.height, 1e-12) << i;
  };
  same(0, {0, 0, 3, 2});
  same(1, {0, 2, 3, 2});
  const double row = 7.0 / 3;  // 4 and 3 side by side
  same(2, {3, 0, 12.0 / 7, row});
  same(3, {3 + 12.0 / 7, 0, 9.0 / 7, row});
  same(4, {3, row, 1.2, 5.0 / 3});
}

TEST(Treemap, EqualValuesAreNearSquares) {
  for (const Box& box : squarify(std::vector<double>(100, 1.0), {0, 0, 960, 480})) {
    EXPECT_LT(std::max(box.width / box.height, box.height / box.width), 2);
  }
}

RC_GTEST_PROP(Pareto, IsWhatNothingDominates, ()) {
  const auto pairs = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 12), rc::gen::inRange(0, 12)));  // ties are frequent
  std::vector<Candidate> all;
  for (const auto& [cost, quality] : pairs) all.push_back({static_cast<double>(cost), static_cast<double>(quality)});
  const std::vector<size_t> front = pareto_front(all);
  for (size_t i = 0; i < all.size(); ++i) {
    const bool dominated = std::any_of(all.begin(), all.end(), [&](const Candidate& other) {
      const bool as_good = other.cost <= all[i].cost && other.quality >= all[i].quality;
      return as_good && (other.cost < all[i].cost || other.quality > all[i].quality);
    });
    RC_ASSERT(std::count(front.begin(), front.end(), i) == (dominated ? 0 : 1));
  }
  for (size_t i = 1; i < front.size(); ++i) {
    RC_ASSERT(all[front[i - 1]].cost <= all[front[i]].cost);
    RC_ASSERT(all[front[i - 1]].quality <= all[front[i]].quality);
  }
}

TEST(Pareto, LessLatencyIsBetter) {
  Scatter scatter;
  scatter.points = {{1, 5, "a", "1", ""}, {2, 4, "b", "2", ""}, {3, 4.5, "c", "3", ""}};
  scatter.more_is_better = false;
  EXPECT_EQ(front_of(scatter), (std::vector<size_t>{0, 1}));
}

RC_GTEST_PROP(ChartAxis, HasRoundNumbersWithin, ()) {
  const double low = *rc::gen::inRange(-1000000, 1000000) / 1000.0;
  const double high = low + *rc::gen::inRange(0, 1000000) / 1000.0;
  const ChartAxis axis = make_axis(low, high, 5);
  RC_ASSERT(axis.low <= low && axis.high >= high && axis.low < axis.high);
  RC_ASSERT(axis.ticks.size() >= 2U && axis.ticks.size() <= 7U);
  for (const double tick : axis.ticks) {
    RC_ASSERT(tick >= axis.low - 1e-6 && tick <= axis.high + 1e-6);
    RC_ASSERT(std::fabs(std::stod(axis.label(tick)) - tick) < 1e-6);  // the label is exactly the number
  }
}

TEST(Chart, TextIsCutBetweenCharacters) {
  EXPECT_EQ(fit_text("embeddings", 1000, 12), "embeddings");
  const std::string cut = fit_text("Größenverhältnis", 60, 12);
  EXPECT_LT(cut.size(), std::string("Größenverhältnis").size());
  EXPECT_EQ(cut.substr(cut.size() - 3), "\xE2\x80\xA6");
  EXPECT_LE(text_width(cut, 12), 60);
  EXPECT_EQ(fit_text("embeddings", 20, 12), "");
  EXPECT_LE(text_width(fit_text("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 80, 12), 12), 80);  // invalid UTF-8
}

}  // namespace
}  // namespace bantam::convert
