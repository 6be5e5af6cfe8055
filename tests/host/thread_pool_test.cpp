// The thread pool of sessions: used alone, shared by several threads, and called from its own tasks.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "bantam/host.h"
#include "tests/effort.h"
#include "tests/host/loops.h"
#include "tests/session/bert.h"
#include "tests/session/run_helpers.h"

namespace bantam::host {
namespace {

using bantam::testing::build;
using bantam::testing::cases;
using bantam::testing::FileBytes;
using bantam::testing::Loop;
using bantam::testing::random_bert;
using bantam::testing::random_ids;
using bantam::testing::run_loops;
using bantam::testing::run_once;
using bantam::testing::WeightType;

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const uint32_t threads : {2u, 3u, 16u}) {
    const ThreadPool pool(threads);
    ASSERT_EQ(pool.threads(), threads);
    run_loops(*pool.parallel(), threads, cases(4000u, 400u));
  }
}

TEST(ThreadPool, OfOneThreadIsSerial) {
  EXPECT_EQ(ThreadPool(1).parallel(), nullptr);
  EXPECT_EQ(ThreadPool(0).threads(), 1u);
}

TEST(ThreadPool, MayBeSharedByThreads) {
  const ThreadPool pool(3);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&pool] { run_loops(*pool.parallel(), 3, cases(2000u, 200u)); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ThreadPool, MayBeUsedByItsTasks) {
  const ThreadPool outer(3), inner(2);
  struct Pools {
    const ThreadPool* outer;
    const ThreadPool* inner;
  } pools = {&outer, &inner};
  for (uint32_t i = 0; i < cases(400u, 40u); ++i) {
    outer.parallel()->run(
        outer.parallel()->context, 5,
        [](void* arg, uint32_t, uint32_t) {
          const auto& p = *static_cast<Pools*>(arg);
          Loop(3).run(*p.inner->parallel(), 2, 1);
          Loop(3).run(*p.outer->parallel(), 3, 1);
        },
        &pools);
  }
}

TEST(ThreadPool, GivesTheResultsOfOneThread) {
  const FileBytes file(build(random_bert({}, 5), WeightType::kI8).finish());
  const auto ids = random_ids({90, 1, 60, 33}, 211, 2, 8);
  const std::vector<float> serial = run_once(file, ids, {});
  const ThreadPool pool(4);
  SessionOptions options;
  options.workers = pool.threads();
  options.parallel = pool.parallel();
  EXPECT_EQ(run_once(file, ids, options), serial);
  // Also for sessions that share it.
  std::vector<std::thread> threads;
  std::atomic<uint32_t> same{0};
  for (uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&] { same += run_once(file, ids, options) == serial ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, 4u);
}

}  // namespace
}  // namespace bantam::host
