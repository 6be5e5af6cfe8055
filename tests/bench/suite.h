// Code that every suite needs: the time of the fastest call, and a main function.
#ifndef BANTAM_TESTS_BENCH_SUITE_H_
#define BANTAM_TESTS_BENCH_SUITE_H_

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

namespace bantam::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns the seconds of the fastest of the calls that fit in the benchmark's time.
template <class F>
double best_seconds(benchmark::State& state, const F& f) {
  double best = 1e9;
  for (auto _ : state) {
    const Clock::time_point begin = Clock::now();
    f();
    best = std::min(best, seconds_since(begin));
  }
  return best;
}

/// The main function of a suite: parses the options, calls `add_all` to register the benchmarks, and runs them. Returns
/// the exit code.
inline int run_suite(int argc, char** argv, void (*add_all)()) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace bantam::bench

#endif  // BANTAM_TESTS_BENCH_SUITE_H_
