// A unigram model's scores: blobs `scores`, `byte_tokens` of a tokenizer.
//
// Blob `scores`: of each id a f32, or a f64 where one does not fit a f32. Blob `byte_tokens`, optional: the tokens of the
// bytes 0 to 255, u32, which stand for what is unknown.
#ifndef BANTAM_TEXT_UNIGRAM_SCORES_H_
#define BANTAM_TEXT_UNIGRAM_SCORES_H_

#include <stdint.h>

namespace bantam::text {

/// View of verified blobs.
struct UnigramScores {
  const float* narrow;
  const double* wide;
  double unknown;       // of a code point that is no token
  uint32_t unknown_id;  // a token that is as good as none

  UnigramScores() = default;  // no value
  UnigramScores(const void* scores, bool is_wide, double of_unknown)
      : narrow(nullptr), wide(nullptr), unknown(of_unknown), unknown_id(0) {
    if (is_wide) {
      wide = static_cast<const double*>(scores);
    } else {
      narrow = static_cast<const float*>(scores);
    }
  }

  double of(uint32_t id) const { return wide != nullptr ? wide[id] : static_cast<double>(narrow[id]); }
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_UNIGRAM_SCORES_H_
