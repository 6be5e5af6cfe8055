// Histograms that grow, and the ranges that calibration takes from them.
#include "calibrate/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"
#include "calibrate/static_ranges.h"
#include "converter/pack_graphs.h"
#include "data/texts.h"
#include "quantize/static.h"

namespace bantam::convert {
namespace {

/// Magnitudes from nearly uniform to mostly tiny with a few large ones.
std::vector<float> magnitudes(uint32_t seed, size_t count, double tail) {
  std::mt19937 random(seed);
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    const double even = (static_cast<double>(random() % 100000) + 0.5) / 100000;
    values.push_back(static_cast<float>(3.7 * std::pow(even, tail)));
  }
  return values;
}

Histogram histogram_of(const std::vector<float>& values) {
  Histogram histogram;
  for (const float x : values) histogram.add(x);
  return histogram;
}

TEST(Histogram, GrowsWithoutMovingANumber) {
  std::vector<float> values = magnitudes(1, 3000, 4);
  values.insert(values.end(), {0.0F, 1e-30F, 512.0F, 511.9F, std::numeric_limits<float>::max() / 4});
  std::sort(values.begin(), values.end());
  const Histogram growing = histogram_of(values);
  std::reverse(values.begin(), values.end());
  const Histogram at_once = histogram_of(values);
  EXPECT_EQ(growing.counts(), at_once.counts());
  EXPECT_EQ(growing.limit(), at_once.limit());
  EXPECT_EQ(growing.total(), values.size());
  EXPECT_EQ(growing.largest(), double{values.front()});
  EXPECT_EQ(growing.counts().size(), Histogram::kBins);
}

TEST(Histogram, QuantileIsWithinABin) {
  for (const double tail : {1.0, 3.0, 8.0}) {
    std::vector<float> values = magnitudes(2, 5000, tail);
    const Histogram histogram = histogram_of(values);
    std::sort(values.begin(), values.end());
    for (const double share : {0.5, 0.9, 0.999, 1.0}) {
      const auto at = static_cast<size_t>(std::ceil(share * 5000)) - 1;
      const double quantile = histogram.quantile(share);
      EXPECT_GE(quantile, double{values[at]});
      EXPECT_LE(quantile, double{values[at]} + histogram.limit() / Histogram::kBins);
    }
    EXPECT_EQ(histogram.quantile(1), histogram.largest());
  }
  EXPECT_EQ(Histogram().quantile(0.99), 0);
}

// Compared with 200 numbers evenly distributed over every bin.
TEST(Histogram, RoundingErrorIsThatOfNumbersWithinTheBins) {
  const Histogram histogram = histogram_of(magnitudes(3, 400, 2));
  const double width = histogram.limit() / Histogram::kBins;
  for (const double range : {histogram.largest(), 0.6 * histogram.largest(), 0.05}) {
    const double step = range / 127;
    double expected = 0;
    for (uint32_t bin = 0; bin < Histogram::kBins; ++bin) {
      const auto count = histogram.counts()[bin];
      if (count == 0) continue;
      for (int i = 0; i < 200; ++i) {
        const double x = width * (bin + (i + 0.5) / 200);
        const double error = x - std::min(std::round(x / step), 127.0) * step;
        expected += count * error * error / 200;
      }
    }
    EXPECT_NEAR(histogram.rounding_error(range) / expected, 1, 1e-3) << range;
  }
}

TEST(Histogram, LeastErrorIsNeverWorseThanTheLargest) {
  bool clipped = false;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Histogram histogram = histogram_of(magnitudes(seed, 20 + 40 * seed, 0.5 + seed % 10));
    const double range = least_error_range(histogram);
    EXPECT_LE(range, histogram.largest());
    EXPECT_GE(range, histogram.largest() / 4);
    EXPECT_LE(histogram.rounding_error(range), histogram.rounding_error(histogram.largest()));
    clipped = clipped || range < histogram.largest();
  }
  EXPECT_TRUE(clipped);
  // A single outlier among very many values costs more resolution than it is worth.
  std::vector<float> values = magnitudes(5, 300000, 1);
  values.push_back(15);
  EXPECT_LT(least_error_range(histogram_of(values)), 8);
  EXPECT_EQ(least_error_range(Histogram()), 0);
  EXPECT_EQ(least_error_range(histogram_of({0, 0})), 0);
}

StaticRanges measure(const Graph& unfused, RangeBy by, double percentile = 99) {
  const auto choose = [](Runner& runner) { return random_samples(runner.model().vocabulary(), 40); };
  return measure_static(unfused, {by, percentile}, 40, choose, [](double) {});
}

TEST(StaticRanges, KeepPartOfWhatWasSeen) {
  const Graph unfused = unfuse(fixture::bert_graph({}));
  const std::map<std::string, RangeWish> wishes = static_activations(unfused);
  const StaticRanges all = measure(unfused, RangeBy::kMinMax);
  EXPECT_TRUE(all.kept.empty());
  EXPECT_THROW(all.reach("nothing"), Error);
  for (const RangeBy by : {RangeBy::kPercentile, RangeBy::kMse}) {
    const StaticRanges part = measure(unfused, by);
    size_t less = 0;
    for (const auto& [name, wish] : wishes) {
      const ColumnRange& seen = part.all(name);
      const ColumnRange& reach = part.reach(name);
      EXPECT_EQ(seen.high, all.all(name).high);
      EXPECT_EQ(part.kept.count(name), wish.use == RangeUse::kSum ? 0U : 1U) << name;
      if (wish.use == RangeUse::kSum) continue;
      EXPECT_EQ(reach.high.size(), wish.use == RangeUse::kFunction ? 1U : seen.high.size()) << name;
      float seen_most = 0;
      for (size_t i = 0; i < seen.high.size(); ++i) {
        const float most = std::max(std::fabs(seen.low[i]), std::fabs(seen.high[i]));
        seen_most = std::max(seen_most, most);
        if (wish.use == RangeUse::kFunction) continue;
        EXPECT_LE(reach.high[i], most);
        EXPECT_EQ(reach.low[i], -reach.high[i]);
        if (reach.high[i] < most) ++less;
      }
      if (wish.use == RangeUse::kFunction) {
        EXPECT_LE(std::max(-reach.low[0], reach.high[0]), seen_most);
      }
    }
    EXPECT_GT(less, 50U) << range_name(by);
  }
}

TEST(StaticRanges, AllNumbersAreMinMax) {
  const Graph graph = fixture::bert_graph({});
  const Graph unfused = unfuse(graph);
  EXPECT_EQ(build_static(graph, measure(unfused, RangeBy::kPercentile, 100)).bytes,
            build_static(graph, measure(unfused, RangeBy::kMinMax)).bytes);
  EXPECT_EQ(build_static(graph, measure(unfused, RangeBy::kMse)).bytes,
            build_static(graph, measure(unfused, RangeBy::kMse)).bytes);
}

TEST(StaticRanges, PercentileHasLimits) {
  for (const double wrong : {50.0, 100.5, -1.0, std::nan("")}) {
    EXPECT_NE(range_problem({RangeBy::kPercentile, wrong}).find("99.99"), std::string::npos);
  }
  EXPECT_EQ(range_problem({RangeBy::kPercentile, 99.9}), "");
}

}  // namespace
}  // namespace bantam::convert
