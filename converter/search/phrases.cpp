#include "search/phrases.h"

#include <algorithm>

namespace bantam::convert {

void for_phrases(const std::string& text, size_t least, size_t most, const StopWords& stop,
                 const std::function<void(const std::string&)>& visit) {
  std::vector<std::string> words = words_of(text);
  words.erase(
      std::remove_if(words.begin(), words.end(), [&](const std::string& word) { return stop.count(word) != 0; }),
      words.end());
  for (size_t first = 0; first < words.size(); ++first) {
    std::string phrase;
    for (size_t length = 1; length <= most && first + length <= words.size(); ++length) {
      phrase += (length == 1 ? "" : " ") + words[first + length - 1];
      if (length >= least) visit(phrase);
    }
  }
}

std::vector<std::string> phrases_of(const std::string& text, size_t least, size_t most, const StopWords& stop) {
  std::vector<std::string> phrases;
  std::unordered_set<std::string> seen;
  for_phrases(text, least, most, stop, [&](const std::string& phrase) {
    if (seen.insert(phrase).second) phrases.push_back(phrase);
  });
  return phrases;
}

float dot(const float* a, const float* b, size_t width) {
  constexpr size_t kLanes = 16;
  float sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  float sum = 0;
  for (; i < width; ++i) sum += a[i] * b[i];
  for (const float part : sums) sum += part;
  return sum;
}

std::vector<ScoredPhrase> choose_phrases(const std::vector<float>& text, const std::vector<float>& phrases,
                                         size_t count, float diversity) {
  const size_t width = text.size();
  const size_t candidates = width == 0 ? 0 : phrases.size() / width;
  std::vector<float> relevance(candidates);
  for (size_t i = 0; i < candidates; ++i) relevance[i] = dot(text.data(), phrases.data() + i * width, width);
  // Similarity to the nearest chosen phrase. The initial value is below every cosine: nothing is chosen yet.
  std::vector<float> nearest(candidates, 0);
  std::vector<bool> taken(candidates, false);
  std::vector<ScoredPhrase> chosen;
  while (chosen.size() < std::min(count, candidates)) {
    const float weight = chosen.empty() ? 0 : diversity;
    size_t best = candidates;
    float most = 0;
    for (size_t i = 0; i < candidates; ++i) {
      const float value = (1 - weight) * relevance[i] - weight * nearest[i];
      if (taken[i] || (best != candidates && !(value > most))) continue;
      best = i;
      most = value;
    }
    taken[best] = true;
    chosen.push_back({best, relevance[best]});
    for (size_t i = 0; i < candidates && diversity > 0; ++i) {
      const float similar = dot(phrases.data() + best * width, phrases.data() + i * width, width);
      nearest[i] = chosen.size() == 1 ? similar : std::max(nearest[i], similar);
    }
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const ScoredPhrase& a, const ScoredPhrase& b) { return a.score > b.score; });
  return chosen;
}

}  // namespace bantam::convert
