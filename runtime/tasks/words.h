// Words of a text and the token row that each is labelled by.
#ifndef BANTAM_TASKS_WORDS_H_
#define BANTAM_TASKS_WORDS_H_

#include "bantam/session.h"

namespace bantam::tasks {

/// First maximal run of non-blanks that begins at byte `from` or later; empty at the end of the text. Blanks are what
/// the tokenizer splits at: Unicode White_Space. O(bytes passed).
Offset next_blank_word(Text text, uint32_t from);

struct LabelledWord {
  Offset span;
  uint32_t row = 0;  // token row of its first piece, in the sequence
};

/// Walks one encoded sequence: each call of next() gives the next word whose first piece is in [first, last) of the
/// content tokens (0: the first of the sequence's rows) and begins at byte `from` or later.
class WordWalk {
 public:
  WordWalk(const EncodedSequence& encoded, const Tokenizer& tokenizer, Text text, bool blank_words)
      : encoded_(encoded), tokenizer_(tokenizer), text_(text), blank_words_(blank_words) {}

  void limit(uint32_t first, uint32_t last, uint32_t from) {
    first_ = first;
    last_ = last;
    word_ = {from, from};
  }
  bool next(LabelledWord* out);

 private:
  bool next_by_blanks(LabelledWord* out);
  bool next_by_pieces(LabelledWord* out);
  bool continues(uint32_t row) const;
  uint32_t next_content(uint32_t row) const;

  const EncodedSequence& encoded_;
  const Tokenizer& tokenizer_;
  Text text_;
  bool blank_words_;
  uint32_t first_ = 0;
  uint32_t last_ = UINT32_MAX;
  uint32_t row_ = 0;      // next row to look at
  uint32_t content_ = 0;  // content tokens before it
  Offset word_;           // the word found last; nothing that begins before its end is labelled
};

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_WORDS_H_
