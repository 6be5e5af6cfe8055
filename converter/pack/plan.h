// The memory plan: byte offsets of all arena tensors, affine in the symbols, for every length at once.
#ifndef BANTAM_CONVERTER_PACK_PLAN_H_
#define BANTAM_CONVERTER_PACK_PLAN_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// Bytes (or an offset) as constant + one coefficient a symbol: c[0] + c[1] * symbol 0 + c[2] * symbol 1 ...
/// Valid for symbol values that are multiples of Symbol.multiple.
using Affine = std::vector<uint64_t>;

/// One tensor to place: its size and the times (inclusive) at which its bytes are in use.
struct Interval {
  Affine size;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct Placement {
  std::vector<Affine> offsets;  // one for each interval
  Affine total;                 // componentwise: every interval ends at or before it
};

/// a <= b in every coefficient, hence for every length.
bool fits_before(const Affine& a, const Affine& b);

/// Places the intervals so that of two that are in use at the same time one ends before the other begins in
/// every coefficient. `typical`: the value of each symbol at which a small plan matters most. Deterministic,
/// O(n^3) for n intervals.
Placement place(const std::vector<Interval>& intervals, const std::vector<uint64_t>& typical);

/// The same for intervals that are placed in the given order.
Placement place_in_order(const std::vector<Interval>& intervals, const std::vector<uint64_t>& typical,
                         const std::vector<size_t>& order);

/// Bytes of activation `tensor` in the arena: rows, scales and pages as schemas/bantam.fbs lays them out.
/// Throws Error (internal) for a form that has no layout.
Affine arena_size(const Graph& graph, const fb::TensorT& tensor);

/// Fills every activation's offset, every op's scratch and the model's shared_bytes and tile_bytes.
void plan_memory(Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_PLAN_H_
