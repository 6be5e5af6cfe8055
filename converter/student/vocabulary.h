// Trims a vocabulary: tokens that the user's texts never use are removed from the tokenizer and the tables.
#ifndef BANTAM_CONVERTER_STUDENT_VOCABULARY_H_
#define BANTAM_CONVERTER_STUDENT_VOCABULARY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "student/draft.h"
#include "student/recipe.h"

namespace bantam::convert {

/// How a tokenizer splits texts.
struct Coverage {
  uint64_t tokens = 0;   // without special tokens
  uint64_t unknown = 0;  // unknown tokens
  double unknown_rate() const { return tokens == 0 ? 0 : static_cast<double>(unknown) / static_cast<double>(tokens); }
};

struct VocabularyReport {
  uint32_t before = 0, after = 0;  // numbers of tokens
  uint64_t texts = 0;              // number of texts in the corpus
  Coverage corpus_before, corpus_after;
  /// Coverage of every tenth text by a vocabulary made from the others: an estimate for texts outside the corpus. Empty
  /// (no tokens) for corpora of fewer than 20 texts.
  Coverage unseen_before, unseen_after;
};

/// Rewrites the draft's tokenizer, tables, output layers and settings. Special and added tokens stay. For every
/// character in a used token, the tokens of that character alone stay too, so that new words of the same letters are
/// never unknown. `uses` receives the number of uses in the corpus of each token that stays. Throws Error for a corpus
/// that cannot be read or has no text, a size smaller than the number of tokens that always stay, and a model without a
/// tokenizer.
VocabularyReport trim_vocabulary(Draft& draft, const Recipe::Vocabulary& recipe, std::vector<double>* uses,
                                 const std::function<void(const char*, double)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_VOCABULARY_H_
