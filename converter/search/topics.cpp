#include "search/topics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

namespace bantam::convert {
namespace {

constexpr uint32_t kTries = 4;
constexpr uint32_t kMostSteps = 50;
constexpr uint32_t kMostGroups = 30;
constexpr size_t kJudged = 3000;

/// xorshift64* (Vigna 2016), which gives the same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}
  /// Returns a number in [0, 1).
  double next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<double>((state_ * 0x2545F4914F6CDD1DU) >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

class KMeans {
 public:
  KMeans(const UnitVectors& vectors, uint32_t groups, const std::function<void()>& progress)
      : vectors_(vectors), groups_(groups), progress_(progress) {}

  Groups run() {
    Groups best;
    double most = -std::numeric_limits<double>::infinity();
    for (uint32_t seed = 1; seed <= kTries; ++seed) {
      begin(Random(seed));
      Groups found = settle();
      double sum = 0;
      for (const float near : found.nearness) sum += double{near};
      if (sum > most) {
        most = sum;
        best = std::move(found);
      }
    }
    return best;
  }

 private:
  size_t width() const { return vectors_.width; }
  const float* middle(uint32_t group) const { return middles_.data() + group * width(); }
  uint32_t count() const { return static_cast<uint32_t>(middles_.size() / width()); }

  /// Chooses the first centers: each next one with a probability proportional to the squared distance from those
  /// already chosen.
  void begin(Random random) {
    const size_t n = vectors_.count();
    middles_.clear();
    std::vector<double> apart(n, 4);
    for (uint32_t group = 0; group < groups_; ++group) {
      double sum = 0;
      for (const double distance : apart) sum += distance;
      if (!(sum > 1e-9)) break;  // all vectors are like one of the chosen
      double left = random.next() * sum;
      size_t chosen = 0;
      while (chosen + 1 < n && left >= apart[chosen]) left -= apart[chosen++];
      middles_.insert(middles_.end(), vectors_.row(chosen), vectors_.row(chosen) + width());
      for (size_t i = 0; i < n; ++i) {
        const double distance = 2 - 2 * double{dot(vectors_.row(i), middle(group), width())};
        apart[i] = std::min(apart[i], std::max(distance, 0.0));
      }
    }
  }

  Groups settle() {
    Groups found;
    for (uint32_t step = 0; step < kMostSteps; ++step) {
      if (progress_) progress_();
      Groups next = assign();
      const bool same = next.of == found.of;
      found = std::move(next);
      if (same) break;
      move_middles(&found);
    }
    return found;
  }

  Groups assign() const {
    Groups found;
    found.count = count();
    const size_t n = vectors_.count();
    found.of.resize(n);
    found.nearness.resize(n);
    double clear = 0;
    for (size_t i = 0; i < n; ++i) {
      float best = -2, second = -2;
      for (uint32_t group = 0; group < found.count; ++group) {
        const float near = dot(vectors_.row(i), middle(group), width());
        if (near > best) {
          second = best;
          best = near;
          found.of[i] = group;
        } else {
          second = std::max(second, near);
        }
      }
      found.nearness[i] = best;
      // The simplified silhouette with cosine distances (Hruschka et al. 2004).
      const float farther = 1 - second;
      if (found.count > 1 && farther > 0) clear += double{(farther - (1 - best)) / farther};
    }
    found.clearness = static_cast<float>(clear / static_cast<double>(std::max<size_t>(n, 1)));
    return found;
  }

  /// Moves each center to the mean of its vectors, and removes groups without vectors.
  void move_middles(Groups* found) {
    std::vector<uint32_t> sizes(found->count, 0);
    std::vector<float> sums(middles_.size(), 0);
    for (size_t i = 0; i < found->of.size(); ++i) {
      ++sizes[found->of[i]];
      float* sum = sums.data() + found->of[i] * width();
      for (size_t k = 0; k < width(); ++k) sum[k] += vectors_.row(i)[k];
    }
    std::vector<uint32_t> number(found->count, 0);
    middles_.clear();
    for (uint32_t group = 0; group < found->count; ++group) {
      float* sum = sums.data() + group * width();
      const float length = std::sqrt(dot(sum, sum, width()));
      number[group] = count();
      if (sizes[group] == 0) continue;
      for (size_t k = 0; k < width() && length > 0; ++k) sum[k] /= length;
      middles_.insert(middles_.end(), sum, sum + width());
    }
    for (uint32_t& group : found->of) group = number[group];
    found->count = count();
  }

  const UnitVectors& vectors_;
  uint32_t groups_;
  const std::function<void()>& progress_;
  std::vector<float> middles_;
};

/// Returns at most kJudged of the vectors, evenly spaced.
UnitVectors sample(const UnitVectors& vectors) {
  UnitVectors some;
  some.width = vectors.width;
  const size_t n = std::min(vectors.count(), kJudged);
  for (size_t i = 0; i < n; ++i) {
    const float* row = vectors.row(i * vectors.count() / n);
    some.values.insert(some.values.end(), row, row + vectors.width);
  }
  return some;
}

uint32_t clearest(const UnitVectors& vectors, const std::function<void()>& progress) {
  const UnitVectors judged = sample(vectors);
  const auto most = static_cast<uint32_t>(std::min<size_t>(kMostGroups, judged.count() / 3));
  uint32_t best = 1;
  float clear = -1;
  for (uint32_t groups = 2; groups <= most; ++groups) {
    const float found = KMeans(judged, groups, progress).run().clearness;
    if (found <= clear) continue;
    clear = found;
    best = groups;
  }
  return best;
}

}  // namespace

Groups group_vectors(const UnitVectors& vectors, uint32_t groups, const std::function<void()>& progress) {
  if (vectors.count() == 0) return {};
  const uint32_t wanted = groups != 0 ? groups : clearest(vectors, progress);
  return KMeans(vectors, static_cast<uint32_t>(std::min<size_t>(wanted, vectors.count())), progress).run();
}

std::vector<std::vector<ScoredWord>> words_of_groups(const std::vector<std::string>& texts, const Groups& groups,
                                                     size_t count, size_t most, const StopWords& stop) {
  std::vector<std::map<std::string, size_t>> inside(groups.count);
  std::unordered_map<std::string, size_t> everywhere;
  std::vector<size_t> sizes(groups.count, 0);
  size_t all = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    for_phrases(texts[i], 1, most, stop, [&](const std::string& phrase) {
      ++inside[groups.of[i]][phrase];
      ++everywhere[phrase];
      ++sizes[groups.of[i]];
      ++all;
    });
  }
  const double mean = groups.count == 0 ? 0 : static_cast<double>(all) / groups.count;
  std::vector<std::vector<ScoredWord>> words(groups.count);
  for (uint32_t group = 0; group < groups.count; ++group) {
    for (const auto& [word, times] : inside[group]) {
      const double weight = std::log(1 + mean / static_cast<double>(everywhere.at(word)));
      const double share = static_cast<double>(times) / static_cast<double>(sizes[group]);
      words[group].push_back({word, static_cast<float>(share * weight)});
    }
    std::stable_sort(words[group].begin(), words[group].end(),
                     [](const ScoredWord& a, const ScoredWord& b) { return a.score > b.score; });
    words[group].resize(std::min(words[group].size(), count));
  }
  return words;
}

}  // namespace bantam::convert
