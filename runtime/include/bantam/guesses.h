// Guesses of the tokens that follow a text, so that one pass chooses several tokens (speculative decoding,
// arXiv 2211.17192). The text is exactly the same as without guesses, token by token, also with sampling: the scores of
// a row have the same bits whatever the other rows of its run are, and a guess is kept only if it is the token that
// would have been chosen.
//
//   uint32_t guessed = guess_repeat(ids, count, counter.next(), run + 1);   // run[0] is the last token of the text
//   run `run` [0, 1 + guessed) in the context, without Batch::last_rows
//   uint32_t kept = 0;
//   next_token(session, 0, kept, sampling, &next);                           // bantam/sampling.h
//   while (kept < guessed && next.id == run[1 + kept]) next_token(session, 0, ++kept, sampling, &next);
//   session.truncate(context, session.context_length(context) - (guessed - kept));
//   counter.took(guessed, kept);
//
// Each chosen token is one of the text; the last of them is the first of the next run.
#ifndef BANTAM_GUESSES_H_
#define BANTAM_GUESSES_H_

#include <stdint.h>

#include "bantam/export.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

constexpr uint32_t kMostGuesses = 16;

/// Guesses that a text repeats itself: finds the latest earlier place where the last tokens of ids[0, count) occur, at
/// least two of them and the more the better, up to eight, and takes the tokens that followed there (prompt lookup).
/// Writes `most` guesses, at most kMostGuesses, to out[0, most) and returns their number; 0: no such place. O(count).
uint32_t guess_repeat(const int32_t* ids, uint32_t count, uint32_t most, int32_t* out);

/// Decides how many tokens to guess: twice as many after guesses that were all right, one fewer after a wrong one, and
/// half as many if all were wrong. After the second pass in a row whose guesses were all wrong there are none for one
/// pass, then for three, seven and so on, at most 63. So a text that nobody can guess costs a row more in few passes.
class GuessCount {
 public:
  /// At most `most` guesses a pass, which is limited to 1 to kMostGuesses.
  explicit GuessCount(uint32_t most = 8);
  /// Returns the number of tokens to guess before the next pass; 0: none. Call it once per pass.
  uint32_t next();
  /// States the result of a pass with `guessed` guesses, the first `kept` of which were right. 0 guesses change
  /// nothing.
  void took(uint32_t guessed, uint32_t kept);

 private:
  uint32_t most_, count_, wait_ = 0, misses_ = 0;
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_GUESSES_H_
