#include "pages/pareto.h"

#include <algorithm>
#include <numeric>

namespace bantam::convert {

std::vector<size_t> pareto_front(const std::vector<Candidate>& candidates) {
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Candidate &x = candidates[a], &y = candidates[b];
    return x.cost != y.cost ? x.cost < y.cost : x.quality > y.quality;
  });
  std::vector<size_t> front;
  for (const size_t next : order) {
    if (!front.empty()) {
      const Candidate& best = candidates[front.back()];
      const bool equal = candidates[next].cost == best.cost && candidates[next].quality == best.quality;
      if (!equal && candidates[next].quality <= best.quality) continue;
    }
    front.push_back(next);
  }
  return front;
}

}  // namespace bantam::convert
