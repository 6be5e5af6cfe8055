// Topics of many texts: groups of vectors, and the words that distinguish each group from the others.
#ifndef BANTAM_CONVERTER_SEARCH_TOPICS_H_
#define BANTAM_CONVERTER_SEARCH_TOPICS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "search/phrases.h"

namespace bantam::convert {

/// Vectors of unit length, one after the other.
struct UnitVectors {
  std::vector<float> values;
  size_t width = 0;

  size_t count() const { return width == 0 ? 0 : values.size() / width; }
  const float* row(size_t i) const { return values.data() + i * width; }
};

struct Groups {
  std::vector<uint32_t> of;     // the group of each vector: 0, 1, ...
  std::vector<float> nearness;  // cosine of each vector and the center of its group
  uint32_t count = 0;
  // mean silhouette: how much nearer vectors are to their own center than to the next one, at most 1
  float clearness = 0;
};

/// Spherical k-means (Dhillon and Modha 2001) with k-means++ initialization (Arthur and Vassilvitskii 2007); returns
/// the best of several tries. No group is empty, so there are fewer than `groups` if vectors are alike. The same input
/// gives the same groups. `groups` 0: the number with the greatest clearness, between 2 and a third of the vectors, at
/// most 30, judged on at most 3,000 vectors. `progress` (may be empty) is called between steps. O(tries * steps *
/// vectors * groups * width).
Groups group_vectors(const UnitVectors& vectors, uint32_t groups, const std::function<void()>& progress);

struct ScoredWord {
  std::string word;
  float score = 0;
};

/// Returns the `count` words of each group with the largest class-based tf-idf: frequency in the group * log(1 + A /
/// f), where f is the word's frequency in all groups and A the mean number of words of a group (BERTopic, arXiv
/// 2203.05794). Stop words are removed; runs of up to `most` words count as one word; equal scores are in alphabetical
/// order.
std::vector<std::vector<ScoredWord>> words_of_groups(const std::vector<std::string>& texts, const Groups& groups,
                                                     size_t count, size_t most, const StopWords& stop);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_TOPICS_H_
