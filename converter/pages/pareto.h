// The Pareto front: the candidates that no other candidate dominates.
#ifndef BANTAM_CONVERTER_PAGES_PARETO_H_
#define BANTAM_CONVERTER_PAGES_PARETO_H_

#include <cstddef>
#include <vector>

namespace bantam::convert {

/// Lower cost and higher quality are better. Both are finite.
struct Candidate {
  double cost = 0, quality = 0;
};

/// Returns the indices of the candidates that no other dominates, by ascending cost. One dominates another if it is at
/// least as good in both respects and better in one. Equal candidates keep their order. O(n log n).
std::vector<size_t> pareto_front(const std::vector<Candidate>& candidates);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_PARETO_H_
