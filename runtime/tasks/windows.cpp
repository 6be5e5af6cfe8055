// Sliding windows over a text that is too long: the tokens that each window contains and decides.
#include "bantam/tasks.h"

namespace bantam {

uint32_t window_count(const WindowPlan& plan) {
  if (plan.total <= plan.size || plan.size == 0 || plan.overlap >= plan.size) return 1;
  const uint32_t step = plan.size - plan.overlap;
  const uint32_t rest = plan.total - plan.size;
  return 1 + rest / step + (rest % step != 0 ? 1 : 0);
}

Window window_at(const WindowPlan& plan, uint32_t index) {
  const uint32_t count = window_count(plan);
  const uint32_t step = plan.overlap < plan.size ? plan.size - plan.overlap : plan.size;
  Window window;
  window.skip = index * step;
  const uint32_t rest = plan.total > window.skip ? plan.total - window.skip : 0;
  window.size = rest < plan.size ? rest : plan.size;
  // Adjacent windows meet in the middle of their overlap: each token is decided where it has more context.
  window.own_begin = index == 0 ? 0 : window.skip + plan.overlap / 2;
  window.own_end = index + 1 >= count ? window.skip + window.size : window.skip + step + plan.overlap / 2;
  return window;
}

}  // namespace bantam
