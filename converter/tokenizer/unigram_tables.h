// A unigram model's tables, in the format of runtime/text/unigram_scores.h.
#ifndef BANTAM_CONVERTER_TOKENIZER_UNIGRAM_TABLES_H_
#define BANTAM_CONVERTER_TOKENIZER_UNIGRAM_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tokenizer/tokenizer_tables.h"

namespace bantam::convert {

/// The blob `scores`: f32 if all scores are exact in f32, else f64.
std::vector<uint8_t> build_scores(const std::vector<double>& scores);

/// The score of text that is not a token: the lowest score of all tokens that are not `silent`, minus 10.
double unknown_score(const std::vector<double>& scores, const std::vector<bool>& silent = {});

/// Returns the text after the space of each token of `vocabulary` that begins with a space, is in `trie`, and is not
/// split by the model. `texts` is indexed by id.
TrieKeys unigram_words(const TrieKeys& vocabulary, const Trie& trie, const std::vector<std::string>& texts,
                       const std::vector<uint8_t>& scores, double unknown, uint32_t unknown_id);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_UNIGRAM_TABLES_H_
