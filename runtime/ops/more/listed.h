// Which panels of scores a run wants (Batch::listed): those with a word of the shortlist of one of the tile's sequences.
#ifndef BANTAM_OPS_MORE_LISTED_H_
#define BANTAM_OPS_MORE_LISTED_H_

#include "ops/epilogue.h"

namespace bantam::ops {

/// Weights of 16 outputs after those of the 16 before, each panel k times 16 elements: part_of counts on it.
inline bool has_plain_panels(const fb::Tensor& weights) {
  return weights.layout() == fb::Layout::tile_k4n16 || weights.layout() == fb::Layout::tile_n16;
}

/// The layer makes scores of which a run wants only some, and its weights lie in panels, so that some can be left out.
inline bool makes_listed(const TileRun& run, const fb::Op& op, const fb::Tensor& weights) {
  if (!linked::kShortlist || run.listed == nullptr || run.listed->tensor != operand(op.outputs(), 0)) return false;
  return has_plain_panels(weights) && has_no_epilogue(op) && operand(op.outputs(), 1) < 0;
}

/// f(panel, panels) for each row of `panels` that follow each other and are wanted, of all of a tile's rows; what f says of each.
/// O(panels * sequences of the tile).
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
