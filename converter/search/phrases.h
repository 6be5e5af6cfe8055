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

/// Words that say nothing of what a text is about.
using StopWords = std::unordered_set<std::string>;

/// English function words, in lower case.
const StopWords& english_stop_words();

/// The words of a text, in lower case: runs of two word characters (letters, digits, marks, underscores) or more, as
/// scikit-learn's CountVectorizer takes them. Text that is not UTF-8 separates words. O(size).
std::vector<std::string> words_of(const std::string& text);

/// Calls visit(phrase) for each run of `least` to `most` words of the text, those of `stop` left out before, in the order in
/// which they begin. O(words * most).
void for_phrases(const std::string& text, size_t least, size_t most, const StopWords& stop,
                 const std::function<void(const std::string&)>& visit);

/// Those phrases, each once: the candidates of KeyBERT (Grootendorst 2020).
std::vector<std::string> phrases_of(const std::string& text, size_t least, size_t most, const StopWords& stop);

/// Cosine of two vectors of unit length, in f32.
float dot(const float* a, const float* b, size_t width);

struct ScoredPhrase {
  size_t phrase = 0;  // its number among the candidates
  float score = 0;    // cosine with the text
};

/// The `count` candidates nearest to the text, best first. With `diversity` above 0 (to 1) each is chosen by maximal marginal
/// relevance (Carbonell and Goldstein 1998): (1 - diversity) * similarity to the text - diversity * similarity to the
/// nearest that is chosen already; equals: the earlier. `phrases` holds vectors of unit length, one after the other.
/// O(candidates * count * width).
std::vector<ScoredPhrase> choose_phrases(const std::vector<float>& text, const std::vector<float>& phrases,
                                         size_t count, float diversity);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_PHRASES_H_
