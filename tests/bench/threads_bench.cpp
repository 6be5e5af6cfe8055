// Measures the gain from the threads of one pass, and their cost while other work runs: threads_bench FILE.bantam
// [TOKENS...]
//
// One thread and two take turns of 20 ms each, in six settings: a machine without other load; each thread on its own
// processor, or both on one; a process that always uses the second processor, with threads placed by the system or not;
// a process that uses it intermittently. Then 1, 2 and 8 sessions of one thread each run at the same time. Each setting
// reports the mean and the best of all passes: another process increases the mean, but not the best. Needs Linux and at
// least two processors.
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/bench/model_files.h"

namespace bantam::bench {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Restricts this thread to the processors `own`, and every other thread of this process to `others`.
void pin(const std::vector<int>& own, const std::vector<int>& others) {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return;
  while (const dirent* task = readdir(tasks)) {
    const int id = std::atoi(task->d_name);
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int processor : id == gettid() ? own : others) CPU_SET(static_cast<size_t>(processor), &set);
    if (id > 0) sched_setaffinity(id, sizeof set, &set);
  }
  closedir(tasks);
}

std::vector<int> own_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> found;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<size_t>(i), &set)) found.push_back(i);
  }
  return found;
}

/// A process that uses one processor: always, or for `on` ms of every `on` + `off` ms.
class Neighbour {
 public:
  Neighbour(int processor, int on, int off) : id_(fork()) {
    if (id_ != 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(processor), &set);
    sched_setaffinity(0, sizeof set, &set);
    for (;;) {
      const Clock::time_point begin = Clock::now();
      while (off == 0 || ms_since(begin) < on) {
      }
      usleep(static_cast<useconds_t>(off) * 1000);
    }
  }
  ~Neighbour() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

 private:
  pid_t id_;
};

struct Times {
  double sum = 0, best = 1e9, worst = 0;
  int passes = 0;

  /// Runs passes for 20 ms. The first two do not count, because the caches contain the other runner's weights.
  void add(Runner& runner) {
    runner.run();
    runner.run();
    const Clock::time_point turn = Clock::now();
    while (ms_since(turn) < 20) {
      const Clock::time_point begin = Clock::now();
      runner.run();
      const double ms = ms_since(begin);
      sum += ms;
      ++passes;
      best = std::min(best, ms);
      worst = std::max(worst, ms);
    }
  }
  double mean() const { return sum / passes; }
};

void take_turns(const char* setting, uint32_t tokens, Runner& one, Runner& two) {
  Times alone, both;
  for (int turn = 0; turn < 40; ++turn) {
    alone.add(one);
    both.add(two);
  }
  std::printf("%-22s %6u %10.3f %10.3f %8.2f %10.3f %10.3f %8.2f %9.2f\n", setting, tokens, alone.mean(), both.mean(),
              both.mean() / alone.mean(), alone.best, both.best, both.best / alone.best, both.worst);
}

void beside_others(const ModelFile& file, uint32_t tokens) {
  const std::vector<int> all = own_processors();
  const std::vector<int> pair(all.begin(), all.begin() + 2);
  pin(pair, pair);
  Runner one(file, {tokens}, 1);
  Runner two(file, {tokens}, 2);
  take_turns("as it is", tokens, one, two);
  pin({pair[0]}, {pair[1]});
  take_turns("a processor each", tokens, one, two);
  pin({pair[0]}, {pair[0]});
  take_turns("one processor", tokens, one, two);
  pin(pair, pair);
  {
    const Neighbour busy(pair[1], 1, 0);
    take_turns("busy neighbour", tokens, one, two);
    pin({pair[0]}, {pair[1]});
    take_turns("busy, a processor each", tokens, one, two);
    pin(pair, pair);
  }
  {
    const Neighbour at_times(pair[1], 5, 15);
    take_turns("busy a quarter of time", tokens, one, two);
  }
  pin(all, all);
}

void sessions_together(const ModelFile& file, uint32_t tokens) {
  double first = 0;
  for (const uint32_t sessions : {1u, 2u, 8u}) {
    double most = 0;
    for (int repeat = 0; repeat < 5; ++repeat) {
      std::atomic<uint64_t> passes{0};
      std::atomic<bool> stop{false};
      std::vector<std::thread> threads;
      for (uint32_t i = 0; i < sessions; ++i) {
        threads.emplace_back([&] {
          Runner runner(file, {tokens}, 1);
          while (!stop) {
            runner.run();
            ++passes;
          }
        });
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const uint64_t before = passes;
      const Clock::time_point begin = Clock::now();
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      most = std::max(most, static_cast<double>(passes - before) / ms_since(begin) * 1e3);
      stop = true;
      for (std::thread& thread : threads) thread.join();
    }
    if (sessions == 1) first = most;
    std::printf("%u sessions %6u tokens %10.0f passes a second %8.2f\n", sessions, tokens, most, most / first);
  }
}

int run(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: threads_bench FILE.bantam [TOKENS...]\n", stderr);
    return 2;
  }
  if (own_processors().size() < 2) {
    std::fputs("threads_bench: needs two processors\n", stderr);
    return 2;
  }
  ModelFile file;
  file.name = argv[1];
  require(file.file.open(argv[1]), file.name);
  require(Model::open(file.file.data(), file.file.size(), &file.model), file.name);
  std::vector<uint32_t> lengths;
  for (int i = 2; i < argc; ++i) lengths.push_back(static_cast<uint32_t>(std::max(1, std::atoi(argv[i]))));
  if (lengths.empty()) lengths = {8, 16, 32, 64, 128};
  std::puts("setting                tokens    mean: 1          2    ratio    best: 1          2    ratio  worst: 2");
  for (const uint32_t tokens : lengths) beside_others(file, tokens);
  for (const uint32_t tokens : lengths) sessions_together(file, tokens);
  return 0;
}

}  // namespace
}  // namespace bantam::bench

int main(int argc, char** argv) { return bantam::bench::run(argc, argv); }
