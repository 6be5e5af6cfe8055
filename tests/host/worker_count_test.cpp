// The number of workers to use, tested on simulated machines with given gains and losses.
#include "host/worker_count.h"

#include <gtest/gtest.h>

namespace bantam::host {
namespace {

constexpr uint64_t kWork = 50'000;      // ns of one thread per loop
constexpr uint64_t kSlice = 3'000'000;  // ns for which another process keeps a worker from its task

struct Machine {
  uint32_t good = 0;  // workers with their own processor
  // With more workers, one loop in this many stalls; 0: further workers gain nothing and slow down every loop.
  uint32_t stalls_each = 0;

  /// Returns the time of `loops` loops relative to a single thread.
  double run(WorkerCount* count, uint32_t loops) const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < loops; ++i) {
      const uint32_t working = count->asked() < good ? count->asked() : good;
      uint64_t elapsed = kWork / (1 + working);
      if (count->asked() > good) elapsed += stalls_each == 0 ? kWork / 4 : i % stalls_each == 0 ? kSlice : 0;
      count->record(elapsed, kWork);
      sum += elapsed;
    }
    return static_cast<double>(sum) / (static_cast<double>(kWork) * loops);
  }
};

TEST(WorkerCount, AsksAllWhileTheyGain) {
  WorkerCount count(7);
  EXPECT_EQ(count.asked(), 7u);
  Machine{7, 0}.run(&count, 1000);
  EXPECT_EQ(count.asked(), 7u);
  // Even with an occasional stall, which costs less than the workers gain.
  EXPECT_LT((Machine{6, 200}.run(&count, 100'000)), 0.5);
}

TEST(WorkerCount, LosesASmallShareWhereNoWorkerHasAProcessor) {
  for (const uint32_t most : {1u, 7u}) {
    for (const uint32_t stalls_each : {0u, 1u, 40u}) {
      WorkerCount count(most);
      const Machine machine = {0, stalls_each};
      machine.run(&count, 1000);  // until it has learned this
      EXPECT_LT(machine.run(&count, 100'000), 1.08) << most << " workers, a stall each " << stalls_each << " loops";
    }
  }
}

/// The times that threads measure for their own work include the cost that they cause each other.
TEST(WorkerCount, TakesNoSmallGainForOne) {
  WorkerCount count(1);
  uint32_t asked = 0;
  for (uint32_t i = 0; i < 10'000; ++i) {
    asked += count.asked();
    count.record(count.asked() != 0 ? kWork * 8 / 10 : kWork, kWork);
  }
  EXPECT_LT(asked, 2000u);
}

TEST(WorkerCount, KeepsThoseThatHaveAProcessor) {
  WorkerCount count(3);
  const Machine machine = {1, 3};
  machine.run(&count, 20'000);
  EXPECT_LT(machine.run(&count, 200'000), 0.6);
}

TEST(WorkerCount, AsksAllAgainWhenTheProcessorsAreFree) {
  WorkerCount count(3);
  Machine{0, 1}.run(&count, 2000);
  EXPECT_LT(count.asked(), 3u);
  Machine{3, 0}.run(&count, 20'000);
  EXPECT_EQ(count.asked(), 3u);
}

TEST(WorkerCount, OfNone) {
  WorkerCount count(0);
  Machine{0, 1}.run(&count, 1000);
  EXPECT_EQ(count.asked(), 0u);
}

}  // namespace
}  // namespace bantam::host
