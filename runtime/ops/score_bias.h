// Biases that are added to attention's scaled scores. Each kind fills the same rows, those of a few queries and one
// head; attention itself does not know where they come from.
#ifndef BANTAM_OPS_SCORE_BIAS_H_
#define BANTAM_OPS_SCORE_BIAS_H_

#include "ops/heads.h"
#include "ops/more/place_scores.h"

namespace bantam::ops {

inline bool has_bias_beside_distance(const fb::Attention& a) {
  return linked::kBias && (a.slopes() >= 0 || has_place_scores(a) || (linked::kSegmentKeys && a.segment_keys() >= 0) ||
                           looks_at_marks(a));
}
inline bool has_bias(const fb::Attention& a) {
  return linked::kBias && (a.distance_bias() >= 0 || has_bias_beside_distance(a));
}

inline bool has_soft_cap(const fb::Attention& a) { return linked::kSoftCap && a.soft_cap() > 0.0f; }

/// Checks that the constants have the shapes that the schema states for this number of heads.
Verdict check_bias(const Site& site, uint32_t heads);

/// Writes the biases of `head` for the queries of `call`, page by page of the visible keys; see kernels::BiasedScores.
/// Call it if has_bias or has_soft_cap; with only the latter, the biases may be zeros. `scratch`: place_scratch bytes.
void fill_bias(const TileRun& run, const fb::Op& op, const kernels::Attention& call, uint32_t head, void* scratch);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_SCORE_BIAS_H_
