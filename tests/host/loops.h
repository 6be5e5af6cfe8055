// Loops that detect when a pool runs a task twice, not at all, or after its loop has ended.
#ifndef BANTAM_TESTS_HOST_LOOPS_H_
#define BANTAM_TESTS_HOST_LOOPS_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "bantam/session.h"

namespace bantam::testing {

/// A loop on the stack, like a session's; it is destroyed when run() has returned.
class Loop {
 public:
  explicit Loop(uint32_t count) : runs_(count) {}

  /// Runs the tasks with worker ids below `workers`; each task takes about a hundred times `effort` instructions.
  void run(const Parallel& parallel, uint32_t workers, uint32_t effort) {
    effort_ = effort;
    busy_ = std::vector<std::atomic<uint32_t>>(workers);
    const auto task = [](void* arg, uint32_t index, uint32_t worker) { static_cast<Loop*>(arg)->work(index, worker); };
    const auto count = static_cast<uint32_t>(runs_.size());
    parallel.run(parallel.context, count, task, this);
    over_ = true;
    for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(runs_[i], 1u) << "task " << i << " of " << count;
    ASSERT_FALSE(clash_);
  }

 private:
  void work(uint32_t index, uint32_t worker) {
    if (over_ || worker >= busy_.size() || index >= runs_.size()) {
      clash_ = true;
      return;
    }
    if (busy_[worker]++ != 0) clash_ = true;
    for (volatile uint32_t i = 0; i < 100 * effort_; i = i + 1) {
    }
    ++runs_[index];  // not atomic: only one thread runs the task, and run() returns after it
    --busy_[worker];
  }

  std::vector<uint32_t> runs_;
  std::vector<std::atomic<uint32_t>> busy_;  // tasks that each worker is currently running
  std::atomic<bool> over_{false}, clash_{false};
  uint32_t effort_ = 0;
};

/// Runs loops of many counts and lengths: shorter than waking a worker takes, and longer than workers poll for work.
inline void run_loops(const Parallel& parallel, uint32_t workers, uint32_t loops) {
  constexpr uint32_t kCounts[] = {0, 1, 2, 3, 2, 17, 2, 100};
  for (uint32_t i = 0; i < loops; ++i) {
    Loop(kCounts[i % 8]).run(parallel, workers, i % 61 == 0 ? 1000 : i % 7);
    if (i % 97 == 0) usleep(200);  // lets the workers sleep
  }
}

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_HOST_LOOPS_H_
