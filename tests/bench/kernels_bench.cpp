// Speed of every kernel on every instruction set, and of the linear kernels as a fraction of the core's peak.
//
//   kernels_bench --benchmark_filter='linear_q8/avx512vnni/.*'
//
// Each figure is the best of many short calls, so that other processes on the machine disturb little: `of_peak` is
// multiplications a second over what a loop of independent dot products (or FMAs) in registers reached just before.
#include <benchmark/benchmark.h>

#include <chrono>
#include <string>

#include "tests/kernels/attention_cases.h"
#include "tests/kernels/row_cases.h"

namespace bantam::kernels {

#define BANTAM_PEAK(name)                             \
  namespace name {                                    \
  uint64_t peak_int8(uint32_t rounds, int32_t* sink); \
  uint64_t peak_f32(uint32_t rounds, int32_t* sink);  \
  }
BANTAM_PEAK(reference)
#if defined(__x86_64__)
BANTAM_PEAK(avx2)
BANTAM_PEAK(avxvnni)
BANTAM_PEAK(avx512vl)
BANTAM_PEAK(avx512)
#endif
#undef BANTAM_PEAK

namespace test {
namespace {

using Clock = std::chrono::steady_clock;

/// Seconds of the fastest of the calls that fit in the benchmark's time.
template <class F>
double best_seconds(benchmark::State& state, const F& f) {
  double best = 1e9;
  for (auto _ : state) {
    const Clock::time_point begin = Clock::now();
    f();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

struct Peaks {
  uint64_t (*int8)(uint32_t, int32_t*);
  uint64_t (*f32)(uint32_t, int32_t*);
};
Peaks peaks_of(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kAvx2:
      return {avx2::peak_int8, avx2::peak_f32};
    case Isa::kAvxVnni:
      return {avxvnni::peak_int8, avxvnni::peak_f32};
    case Isa::kAvx512Vnni256:
      return {avx512vl::peak_int8, avx512vl::peak_f32};
    case Isa::kAvx512Vnni:
      return {avx512::peak_int8, avx512::peak_f32};
#endif
    default:
      return {reference::peak_int8, reference::peak_f32};
  }
}

/// Multiplications a second: the best of some short loops.
double measure_peak(uint64_t (*loop)(uint32_t, int32_t*), Isa isa) {
  int32_t sink = 0;
  double best = 0;
  const uint32_t rounds = isa == Isa::kReference ? 200 : 20000;
  for (int i = 0; i < 200; ++i) {
    const Clock::time_point begin = Clock::now();
    const uint64_t count = loop(rounds, &sink);
    best = std::max(best, static_cast<double>(count) / std::chrono::duration<double>(Clock::now() - begin).count());
  }
  benchmark::DoNotOptimize(sink);
  return best;
}

void report(benchmark::State& state, double multiplications, double seconds, double peak) {
  state.counters["best_us"] = seconds * 1e6;
  state.counters["GMAC/s"] = multiplications / seconds * 1e-9;
  state.counters["of_peak"] = multiplications / seconds / peak;
}

void linear_q8_shape(benchmark::State& state, const Table* t, LinearShape shape) {
  const double peak = measure_peak(peaks_of(t->isa).int8, t->isa);
  Case<LinearQ8> c(1, &shape);
  const LinearQ8 a = c.args(*t);
  const double seconds = best_seconds(state, [&] { t->linear_q8(a); });
  report(state, c.multiplications(), seconds, peak);
}

void linear_f32_shape(benchmark::State& state, const Table* t, LinearShape shape) {
  const double peak = measure_peak(peaks_of(t->isa).f32, t->isa);
  Case<LinearF32> c(1, &shape);
  const LinearF32 a = c.args(*t);
  const double seconds = best_seconds(state, [&] { t->linear_f32(a); });
  report(state, c.multiplications(), seconds, peak);
}

/// Any kernel on its typical shape: MiniLM's widths.
template <class Args>
void typical(benchmark::State& state, const Table* t, bool (*Table::*kernel)(const Args&)) {
  const auto shape = Case<Args>::Shape::typical(static_cast<uint32_t>(state.range(0)));
  Case<Args> c(1, &shape);
  if constexpr (std::is_same_v<Args, Attention>) c.prepare(*t);
  const Args a = c.args(*t);
  state.counters["best_us"] = best_seconds(state, [&] { (t->*kernel)(a); }) * 1e6;
}

void add_all() {
  for (const Table* t : tables()) {
    const std::string isa = isa_name(t->isa);
#define BANTAM_KERNEL(name, Args)                                                               \
  benchmark::RegisterBenchmark((#name "/" + isa).c_str(),                                       \
                               [t](benchmark::State& s) { typical<Args>(s, t, &Table::name); }) \
      ->ArgName("rows")                                                                         \
      ->Arg(16)                                                                                 \
      ->Arg(64)                                                                                 \
      ->MinTime(0.05);
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL
    if (t->isa == Isa::kReference) continue;
    for (uint32_t k : {384u, 1152u, 1536u}) {
      for (uint32_t n : {384u, 1152u, 1536u}) {
        for (uint32_t m : {1u, 2u, 4u, 8u, 13u, 16u, 32u, 64u, 128u}) {
          for (Activation activation : {Activation::kNone, Activation::kGelu}) {
            if (activation == Activation::kGelu && !(k == 384 && n == 1536)) continue;
            const std::string shape = "/m:" + std::to_string(m) + "/k:" + std::to_string(k) +
                                      "/n:" + std::to_string(n) + (activation == Activation::kGelu ? "/gelu" : "");
            const LinearShape s{m, k, n, activation, true, false, false, false};
            benchmark::RegisterBenchmark(("linear_q8_shape/" + isa + shape).c_str(), [t, s](benchmark::State& state) {
              linear_q8_shape(state, t, s);
            })->MinTime(0.05);
            benchmark::RegisterBenchmark(("linear_f32_shape/" + isa + shape).c_str(), [t, s](benchmark::State& state) {
              linear_f32_shape(state, t, s);
            })->MinTime(0.05);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace test
}  // namespace bantam::kernels

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  bantam::kernels::test::add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
