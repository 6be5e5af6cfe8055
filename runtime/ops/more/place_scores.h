// Position scores: biases of attention that depend on the position of a key, as products of queries and keys with
// constants (DeBERTa, arXiv 2006.03654). The kernels of linear layers compute the products for a few queries and one
// head at a time (in int8 if queries, keys and constants are int8), only for the positions that occur among these
// queries and keys.
#ifndef BANTAM_OPS_MORE_PLACE_SCORES_H_
#define BANTAM_OPS_MORE_PLACE_SCORES_H_

#include "ops/heads.h"

namespace bantam::ops {

inline bool has_place_scores(const fb::Attention& a) { return linked::kPlaceScores && a.place_rows() >= 0; }

/// Checks that the constants have the shapes that the schema states.
Verdict check_place_scores(const Site& site);

/// Bytes of scratch for add_place_scores; a multiple of 64.
uint64_t place_scratch(const fb::Model& model, const fb::Op& op, uint32_t block_rows);

/// Adds the position scores of `head` to the biases of `call` (in call.scratch) or, if `add` is false, overwrites them.
void add_place_scores(const TileRun& run, const fb::Op& op, const kernels::Attention& call, uint32_t head,
                      void* scratch, bool add);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_PLACE_SCORES_H_
