// Topics of many texts: groups of vectors, and the words that tell one group from the others.
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
  std::vector<uint32_t> of;     // the group of each vector, 0, 1, ...
  std::vector<float> nearness;  // of each vector to the middle of its group: cosine
  uint32_t count = 0;
  float clearness = 0;  // mean of (nearness - that to the nearest other middle), of unlike vectors near 1
};

/// Spherical k-means (Dhillon and Modha 2001) from k-means++ beginnings (Arthur and Vassilvitskii 2007), the best of some tries;
/// no group is empty, so there are fewer than `groups` where vectors are alike. The same input gives the same groups.
/// `groups` 0: as many as are clearest, between 2 and a third of the vectors, at most 30, judged on at most 3,000 of them.
/// `progress` (may be empty) is called between steps. O(tries * steps * vectors * groups * width).
Groups group_vectors(const UnitVectors& vectors, uint32_t groups, const std::function<void()>& progress);

struct ScoredWord {
  std::string word;
  float score = 0;
};

/// The `count` words of each group that count most by class-based tf-idf: frequency in the group * log(1 + A / f), f the word's
/// frequency in all groups, A the mean words of a group (BERTopic, arXiv 2203.05794). Stop words are left out, runs of at
/// most `most` words counted as one; equals: in the order of the alphabet.
std::vector<std::vector<ScoredWord>> words_of_groups(const std::vector<std::string>& texts, const Groups& groups,
                                                     size_t count, size_t most, const StopWords& stop);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_TOPICS_H_
