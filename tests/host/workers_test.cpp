// Workers that are called to every loop: no task is run twice or after its loop has ended, and nobody waits for a
// worker that has not begun a task.
#include "host/workers.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/effort.h"
#include "tests/host/loops.h"

namespace bantam::host {
namespace {

using bantam::testing::cases;
using bantam::testing::Loop;

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kThreadSanitizer = false;
#endif

/// A pool of `threads` threads, including the caller.
class Eager {
 public:
  explicit Eager(uint32_t threads) : workers_(threads - 1) {
    parallel_.context = &workers_;
    parallel_.run = [](void* context, uint32_t count, Workers::Task task, void* arg) {
      auto& workers = *static_cast<Workers*>(context);
      workers.run(count, task, arg, workers.count());
    };
  }
  uint32_t threads() const { return workers_.count() + 1; }
  const Parallel& parallel() const { return parallel_; }
  void run_loops(uint32_t loops) const { bantam::testing::run_loops(parallel_, threads(), loops); }
  void run(uint32_t count, uint32_t effort) const { Loop(count).run(parallel_, threads(), effort); }

 private:
  Workers workers_;
  Parallel parallel_;
};

TEST(Workers, RunEveryTaskOnceAndNoneTwiceAtOnce) {
  for (const uint32_t threads : {2u, 3u, 16u}) {
    const Eager pool(threads);
    ASSERT_EQ(pool.threads(), threads);
    pool.run_loops(cases(4000u, 400u));
  }
}

TEST(Workers, MayBeAskedInAnyNumber) {
  Workers workers(3);
  std::atomic<uint32_t> done{0};
  const auto task = [](void* arg, uint32_t, uint32_t) { ++*static_cast<std::atomic<uint32_t>*>(arg); };
  const auto loops = cases(4000u, 400u);
  for (uint32_t i = 0; i < loops; ++i) {
    const Workers::Times times = workers.run(3, task, &done, i % 5);
    ASSERT_TRUE(i % 5 != 0 || times.elapsed == times.worked);  // run by one thread alone
  }
  EXPECT_EQ(done, 3 * loops);
}

TEST(Workers, EndWhateverTheyDo) {
  for (uint32_t i = 0; i < cases(200u, 20u); ++i) {
    const Eager pool(4);
    if (i % 4 == 1) usleep(500);  // lets the workers sleep
    if (i % 4 == 2) pool.run_loops(3);
    if (i % 4 == 3) pool.run(4, 0);
  }
}

TEST(Workers, OfSeveralThreadsDoNotMeet) {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([] { Eager(3).run_loops(cases(1000u, 100u)); });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Two tasks that wait for each other; returns the thread of worker 1.
pthread_t meet(const Eager& pool) {
  struct Meeting {
    std::atomic<uint32_t> here{0};
    pthread_t threads[2] = {};
  } meeting;
  pool.parallel().run(
      pool.parallel().context, 2,
      [](void* arg, uint32_t, uint32_t worker) {
        Meeting& m = *static_cast<Meeting*>(arg);
        m.threads[worker] = pthread_self();
        ++m.here;
        while (m.here != 2) usleep(10);
      },
      &meeting);
  return meeting.threads[1];
}

TEST(Workers, AreWaitedForWhereTheyHaveBegunATask) {
  const Eager pool(2);
  // Tasks up to longer than the caller polls, so that it sleeps and must be woken.
  for (uint32_t i = 0; i < cases(300u, 60u); ++i) {
    struct Slow {
      uint32_t us;
      std::atomic<uint32_t> begun{0};
      uint32_t done[2] = {};
    } slow = {i % 3 == 0 ? 2000 : i};
    pool.parallel().run(
        pool.parallel().context, 2,
        [](void* arg, uint32_t index, uint32_t worker) {
          auto& s = *static_cast<Slow*>(arg);
          ++s.begun;
          while (s.begun != 2) usleep(10);
          if (worker == 1) usleep(s.us);
          s.done[index] = 1;
        },
        &slow);
    ASSERT_EQ(slow.done[0] + slow.done[1], 2u);
  }
}

/// Stops a thread at an arbitrary place, as a scheduler does, in a signal handler.
struct Stop {
  static std::atomic<int> inside;
  static std::atomic<bool> held;
  static void handle(int) {
    ++inside;
    while (held) usleep(50);
    --inside;
  }
  static void wait_for(int count) {
    while (inside != count) usleep(10);
  }
};
std::atomic<int> Stop::inside{0};
std::atomic<bool> Stop::held{false};

/// Releases stopped threads after a minute, because whoever waits for them would wait forever.
class Watch {
 public:
  Watch() : thread_([this] { watch(); }) {}
  ~Watch() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
    EXPECT_FALSE(late_) << "a stopped worker was waited for";
  }

 private:
  void watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::minutes(1), [this] { return over_; })) return;
    late_ = true;
    Stop::held = false;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false, late_ = false;
  std::thread thread_;
};

TEST(Workers, AreNotWaitedForWhereTheyHaveBegunNothing) {
  if (kThreadSanitizer) GTEST_SKIP() << "it runs no handler in a thread that sleeps by a system call of its own";
  ASSERT_NE(signal(SIGUSR1, Stop::handle), SIG_ERR);
  for (uint32_t i = 0; i < cases(40u, 8u); ++i) {
    const Eager pool(2);
    const pthread_t worker = meet(pool);
    usleep(i % 2 == 0 ? 0 : 500);  // the worker polls for work, or sleeps
    Stop::held = true;
    ASSERT_EQ(pthread_kill(worker, SIGUSR1), 0);
    Stop::wait_for(1);
    {
      const Watch watch;
      pool.run_loops(20);
      Stop::held = false;
    }
    Stop::wait_for(0);
    pool.run_loops(20);
  }
  signal(SIGUSR1, SIG_IGN);
}

/// A worker may be interrupted between any two instructions and continue in another loop.
TEST(Workers, ThatAreInterruptedTakeNoTaskOfAnotherLoop) {
  ASSERT_NE(signal(SIGUSR1, [](int) { usleep(1); }), SIG_ERR);
  const Eager pool(2);
  const pthread_t worker = meet(pool);
  std::atomic<bool> over{false};
  std::thread interrupts([&] {
    while (!over) {
      pthread_kill(worker, SIGUSR1);
      usleep(1);
    }
  });
  for (uint32_t i = 0; i < cases(200'000u, 5000u); ++i) pool.run(3 + i % 7, i % 2);
  over = true;
  interrupts.join();
  signal(SIGUSR1, SIG_IGN);  // the last signal may arrive late, since its thread may not have run yet
}

}  // namespace
}  // namespace bantam::host
