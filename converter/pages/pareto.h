// The Pareto front: what nothing else beats in both respects.
#ifndef BANTAM_CONVERTER_PAGES_PARETO_H_
#define BANTAM_CONVERTER_PAGES_PARETO_H_

#include <cstddef>
#include <vector>

namespace bantam::convert {

/// Less cost and more quality are better. Finite.
struct Candidate {
  double cost = 0, quality = 0;
};

/// Indices of the candidates that no other dominates (one dominates when it is at least as good in both respects and better
/// in one), by rising cost; equals stand side by side, in their order. O(n log n).
std::vector<size_t> pareto_front(const std::vector<Candidate>& candidates);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_PARETO_H_
