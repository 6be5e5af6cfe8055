// The panels of scores that a run needs (Batch::listed): those with a word of the shortlist of one of the tile's
// sequences.
#ifndef BANTAM_OPS_MORE_LISTED_H_
#define BANTAM_OPS_MORE_LISTED_H_

#include "ops/epilogue.h"

namespace bantam::ops {

/// Returns true if panels of 16 outputs are contiguous and have k times 16 elements each, as part_of requires.
inline bool has_plain_panels(const fb::Tensor& weights) {
  return weights.layout() == fb::Layout::tile_k4n16 || weights.layout() == fb::Layout::tile_n16;
}

/// Returns true if the layer computes scores of which the run needs only some, and its weights lie in panels, so that
/// others can be skipped.
inline bool makes_listed(const TileRun& run, const fb::Op& op, const fb::Tensor& weights) {
  if (!linked::kShortlist || run.listed == nullptr || run.listed->tensor != operand(op.outputs(), 0)) return false;
  return has_plain_panels(weights) && has_no_epilogue(op) && operand(op.outputs(), 1) < 0;
}

/// Calls f(panel, panels) for each run of adjacent panels that the tile's rows need; returns the conjunction of its
/// results. O(panels * sequences of the tile).
template <class F>
bool for_listed_panels(const TileRun& run, uint32_t panels, const F& f) {
  const ListedScores& listed = *run.listed;
  const uint32_t first = find_sequence(run, run.row_begin), last = find_sequence(run, run.row_begin + run.rows - 1);
  const auto wanted = [&](uint32_t panel) {
    uint32_t words = 0;
    for (uint32_t s = first; s <= last && panel / 2 < listed.units; ++s) {
      words |= listed.sets[size_t{run.sources->numbers[s]} * listed.units + panel / 2];
    }
    return (words >> panel % 2 * 16 & 0xFFFFu) != 0;
  };
  bool all = true;
  for (uint32_t begin = 0; begin < panels;) {
    uint32_t end = begin;
    while (end < panels && wanted(end)) ++end;
    if (end != begin) all &= f(begin, end - begin);
    begin = end + 1;
  }
  return all;
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_LISTED_H_
