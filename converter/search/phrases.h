// Words and phrases of texts, for keywords and topics.
#ifndef BANTAM_CONVERTER_SEARCH_PHRASES_H_
#define BANTAM_CONVERTER_SEARCH_PHRASES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace bantam::convert {

/// Words that say nothing about the subject of a text.
using StopWords = std::unordered_set<std::string>;

/// English function words, in lower case.
const StopWords& english_stop_words();

/// Returns the words of a text in lower case: runs of at least two word characters (letters, digits, marks,
/// underscores), as in scikit-learn's CountVectorizer. Invalid UTF-8 separates words. O(size).
std::vector<std::string> words_of(const std::string& text);

/// Calls visit(phrase) for each run of `least` to `most` words of the text, after removing the words of `stop`, in the
/// order in which the runs begin. O(words * most).
void for_phrases(const std::string& text, size_t least, size_t most, const StopWords& stop,
                 const std::function<void(const std::string&)>& visit);

/// Returns these phrases, each once: the candidates of KeyBERT (Grootendorst 2020).
std::vector<std::string> phrases_of(const std::string& text, size_t least, size_t most, const StopWords& stop);

/// Returns the dot product in f32: the cosine of vectors of unit length.
float dot(const float* a, const float* b, size_t width);

struct ScoredPhrase {
  size_t phrase = 0;  // its number among the candidates
  float score = 0;    // cosine with the text
};

/// Returns the `count` candidates nearest to the text, best first. With `diversity` above 0 (up to 1), each is chosen
/// by maximal marginal relevance (Carbonell and Goldstein 1998): (1 - diversity) * similarity to the text - diversity *
/// similarity to the nearest chosen candidate; among equals, the earlier one. `phrases` contains vectors of unit
/// length, one after the other. O(candidates * count * width).
std::vector<ScoredPhrase> choose_phrases(const std::vector<float>& text, const std::vector<float>& phrases,
                                         size_t count, float diversity);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_PHRASES_H_
