// Words of a text, and the token rows that determine the label of each.
#ifndef BANTAM_TASKS_WORDS_H_
#define BANTAM_TASKS_WORDS_H_

#include "bantam/session.h"
#include "bantam/tasks.h"
#include "linked.h"

namespace bantam::tasks {

/// Returns the first word that begins at byte `from` or later; empty at the end of the text. A word is a maximal run of
/// non-blanks; unless `blank_words`, punctuation and CJK characters (by BERT's definitions) are words of their own.
/// Blanks are Unicode White_Space. O(bytes passed).
Offset next_word(Text text, uint32_t from, bool blank_words);

struct LabelledWord {
  Offset span;
  uint32_t row = 0;  // row of its first token in the sequence
  uint32_t end = 0;  // row after its last token; rows in between that do not belong to the first text are ignored
  /// kWords: punctuation that touches a word, such as a bracket or a full stop; not symbols ("$", "%").
  bool mark = false;
};

/// Walks over one encoded sequence: each call of next() returns the next word whose first token is in [first, last) of
/// the content tokens (0: the first one in the sequence's rows) and begins at byte `from` or later.
class WordWalk {
 public:
  /// Words: kWords: those of next_word(), extended to the ends of their tokens; kNone, kSimple: each token; kFirst,
  /// kAverage, kMax: tokens that transformers' pipeline joins. With other values there are no words.
  WordWalk(const EncodedSequence& encoded, const Tokenizer& tokenizer, Text text, Aggregation aggregation,
           bool blank_words);

  /// `text_begins`: the sequence's first content token is the text's first.
  void limit(uint32_t first, uint32_t last, uint32_t from, bool text_begins) {
    first_ = first;
    last_ = last;
    word_ = {from, from};
    text_begins_ = text_begins;
  }
  bool next(LabelledWord* out);

 private:
  bool next_of_text(LabelledWord* out);
#if BANTAM_IF_LINKED(Strategies)
  bool next_of_tokens(LabelledWord* out);
  bool continues(uint32_t row) const;
#endif  // BANTAM_IF_LINKED(Strategies)
  uint32_t next_content(uint32_t row) const;

  const EncodedSequence& encoded_;
  const Tokenizer& tokenizer_;
  Text text_;
  Text prefix_;  // prefix of tokens that continue a word; empty: blanks in the text decide
  Aggregation aggregation_;
  bool blank_words_;
  bool text_begins_ = true;
  uint32_t first_ = 0;
  uint32_t last_ = UINT32_MAX;
  uint32_t row_ = 0;      // next row to examine
  uint32_t content_ = 0;  // content tokens before it
  Offset word_;           // the word found last; words of the text begin at its end or later
};

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_WORDS_H_
