// A unigram model's scores: blobs `scores`, `byte_tokens` of a tokenizer.
//
// Blob `scores`: one f32 per id, or one f64 if some score does not fit an f32. Blob `byte_tokens`, optional: the u32
// tokens of bytes 0 to 255, which replace unknown text.
#ifndef BANTAM_TEXT_UNIGRAM_SCORES_H_
#define BANTAM_TEXT_UNIGRAM_SCORES_H_

#include <stdint.h>

namespace bantam::text {

/// View of verified blobs.
struct UnigramScores {
  const float* narrow;
  const double* wide;
  double unknown;       // score of a code point without a token
  uint32_t unknown_id;  // a token that is treated as if it did not exist

  UnigramScores() = default;  // uninitialized
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
