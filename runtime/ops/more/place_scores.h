// Scores of places: what attention adds for where a key stands, as products of queries and keys with constants
// (arXiv 2006.03654). Products are computed for a few queries and one head at a time, by the kernels of linear layers (int8 where
// queries, keys and constants are), for those places alone that the queries and keys have.
#ifndef BANTAM_OPS_MORE_PLACE_SCORES_H_
#define BANTAM_OPS_MORE_PLACE_SCORES_H_

#include "ops/heads.h"

namespace bantam::ops {

inline bool has_place_scores(const fb::Attention& a) { return linked::kPlaceScores && a.place_rows() >= 0; }

/// The constants have the shapes that the schema states.
Verdict check_place_scores(const Site& site);

/// Scratch of add_place_scores; a multiple of 64.
uint64_t place_scratch(const fb::Model& model, const fb::Op& op, uint32_t block_rows);

/// Adds the scores of places of `head` to the biases of `call` (in call.scratch), or, if not `add`, makes them its biases.
void add_place_scores(const TileRun& run, const fb::Op& op, const kernels::Attention& call, uint32_t head,
                      void* scratch, bool add);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_PLACE_SCORES_H_
