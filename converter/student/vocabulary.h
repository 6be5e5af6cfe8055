// Trimming a vocabulary: tokens that the user's texts never use leave tokenizer and tables together.
#ifndef BANTAM_CONVERTER_STUDENT_VOCABULARY_H_
#define BANTAM_CONVERTER_STUDENT_VOCABULARY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "student/draft.h"
#include "student/recipe.h"

namespace bantam::convert {

/// How a tokenizer splits some texts.
struct Coverage {
  uint64_t tokens = 0;   // special ones left out
  uint64_t unknown = 0;  // of them
  double unknown_rate() const { return tokens == 0 ? 0 : static_cast<double>(unknown) / static_cast<double>(tokens); }
};

struct VocabularyReport {
  uint32_t before = 0, after = 0;  // tokens
  uint64_t texts = 0;              // of the corpus
  Coverage corpus_before, corpus_after;
  /// Every tenth text, as a vocabulary made of the others splits it: what texts that are not in the corpus will meet. Left out
  /// (no tokens) for corpora of fewer than 20 texts.
  Coverage unseen_before, unseen_after;
};

/// Rewrites the draft's tokenizer, tables, output layers and settings. Special and added tokens stay, and of every character
/// that a used token holds the tokens of that character alone, so that new words of the same letters are never unknown. `uses`
/// gets, for each token that stays, how often the corpus uses it. Throws Error: a corpus that cannot be read or has no text,
/// a size that the tokens which always stay exceed, a model without a tokenizer.
VocabularyReport trim_vocabulary(Draft& draft, const Recipe::Vocabulary& recipe, std::vector<double>* uses,
                                 const std::function<void(const char*, double)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_VOCABULARY_H_
