// The memory plan: byte offsets of all arena tensors as affine functions of the symbols, valid for all lengths.
#ifndef BANTAM_CONVERTER_PACK_PLAN_H_
#define BANTAM_CONVERTER_PACK_PLAN_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// A size or an offset in bytes as a constant plus one coefficient per symbol: c[0] + c[1] * symbol 0 + c[2] * symbol 1
/// ... Valid for symbol values that are multiples of Symbol.multiple.
using Affine = std::vector<uint64_t>;

/// A tensor to place: its size and the times (inclusive) between which its bytes are in use.
struct Interval {
  Affine size;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct Placement {
  std::vector<Affine> offsets;  // one per interval
  Affine total;                 // componentwise: all intervals end at or before it
};

/// Returns true if a <= b in every coefficient, and hence for all lengths.
bool fits_before(const Affine& a, const Affine& b);

/// Places the intervals so that of two that are in use at the same time, one ends before the other begins in every
/// coefficient. `typical`: the value of each symbol for which the plan should be small. Deterministic, O(n^3) for n
/// intervals.
Placement place(const std::vector<Interval>& intervals, const std::vector<uint64_t>& typical);

/// As above, but places the intervals in the given order.
Placement place_in_order(const std::vector<Interval>& intervals, const std::vector<uint64_t>& typical,
                         const std::vector<size_t>& order);

/// Size of activation `tensor` in the arena: rows, scales and pages as laid out in schemas/bantam.fbs. Throws Error
/// (internal) for a form without a layout.
Affine arena_size(const Graph& graph, const fb::TensorT& tensor);

/// Sets every activation's offset, every op's scratch, and the model's shared_bytes and tile_bytes.
void plan_memory(Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_PLAN_H_
