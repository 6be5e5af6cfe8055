// Speed of every kernel on every instruction set. Linear kernels are reported as a fraction of the core's dot-product
// (or FMA) peak; for one row also as a fraction of the rate at which the core loads the weights from the cache that
// holds them.
//
//   kernels_bench --benchmark_filter='linear_q8_shape/avx512vnni/.*'
//
// Each figure is the best of many short calls, so that other processes on the machine have little effect;
// probe/limits.h measures peak and load rate in the same process.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "probe/limits.h"
#include "tests/bench/suite.h"
#include "tests/kernels/align_cases.h"
#include "tests/kernels/attention_cases.h"
#include "tests/kernels/feature_cases.h"
#include "tests/kernels/row_cases.h"
#include "tests/kernels/span_cases.h"
#include "tests/kernels/static_attention_cases.h"
#include "tests/kernels/static_linear_cases.h"
#include "tests/kernels/static_row_cases.h"

namespace bantam::kernels::test {
namespace {

using bench::best_seconds;
using bench::Clock;
using bench::seconds_since;

/// Returns the best peaks measured so far; measured again every second.
const probe::Peaks& peaks_of(Isa isa) {
  struct Known {
    probe::Peaks peaks;
    Clock::time_point when;
  };
  static std::map<Isa, Known> known;
  Known& entry = known[isa];
  if (seconds_since(entry.when) > 1) {
    entry.peaks = probe::larger(entry.peaks, probe::measure_peaks(isa));
    entry.when = Clock::now();
  }
  return entry.peaks;
}

void report(benchmark::State& state, double multiplications, double seconds, double peak) {
  state.counters["best_us"] = seconds * 1e6;
  state.counters["GMAC/s"] = multiplications / seconds * 1e-9;
  if (peak > 0) state.counters["of_peak"] = multiplications / seconds / peak;
}

void linear_q8_shape(benchmark::State& state, const Table* t, LinearShape shape) {
  Case<LinearQ8> c(1, &shape);
  const LinearQ8 a = c.args(*t);
  const double seconds = best_seconds(state, [&] { t->linear_q8(a); });
  report(state, c.multiplications(), seconds, peaks_of(t->isa).int8);
}

void linear_f32_shape(benchmark::State& state, const Table* t, LinearShape shape) {
  Case<LinearF32> c(1, &shape);
  const LinearF32 a = c.args(*t);
  const double seconds = best_seconds(state, [&] { t->linear_f32(a); });
  report(state, c.multiplications(), seconds, peaks_of(t->isa).f32);
}

/// Returns the best rate measured so far at which the core loads from `size` bytes, in bytes per second.
double load_rate(Isa isa, size_t size) {
  constexpr size_t kUnit = size_t{8} << 10;
  constexpr size_t kMost = size_t{16} << 20;
  static void* const bytes = std::memset(std::aligned_alloc(4096, kMost), 1, kMost);
  static std::map<std::pair<Isa, size_t>, double> known;
  const size_t rounded = std::min(kMost, (size + kUnit - 1) / kUnit * kUnit);
  double& rate = known[{isa, rounded}];
  rate = std::max(rate, probe::measure_load_bandwidth(isa, bytes, rounded));
  return rate;
}

/// One row times each of `matrices` weight matrices in turn, so that the cache for their total size holds them.
void linear_q8_row(benchmark::State& state, const Table* t, uint32_t k, uint32_t n, uint32_t matrices) {
  const LinearShape shape{1, k, n, Activation::kNone, true, false, false, false};
  std::vector<std::unique_ptr<Case<LinearQ8>>> cases;
  std::vector<LinearQ8> calls;
  for (uint32_t i = 0; i < matrices; ++i) {
    cases.push_back(std::make_unique<Case<LinearQ8>>(i, &shape));
    calls.push_back(cases.back()->args(*t));
  }
  const double seconds = best_seconds(state, [&] {
    for (const LinearQ8& call : calls) t->linear_q8(call);
  });
  const size_t bytes = size_t{matrices} * k * n;
  report(state, static_cast<double>(bytes), seconds, peaks_of(t->isa).int8);
  state.counters["MB"] = static_cast<double>(bytes) * 1e-6;
  state.counters["GB/s"] = static_cast<double>(bytes) / seconds * 1e-9;
  const double rate = load_rate(t->isa, bytes);
  if (rate > 0) state.counters["of_load"] = static_cast<double>(bytes) / seconds / rate;
}

void peak(benchmark::State& state, Isa isa) {
  for (auto _ : state) benchmark::DoNotOptimize(peaks_of(isa));
  state.counters["int8_GMAC/s"] = peaks_of(isa).int8 * 1e-9;
  state.counters["f32_GMAC/s"] = peaks_of(isa).f32 * 1e-9;
  for (const size_t kilobytes : {16u, 512u, 8192u}) {
    state.counters["GB/s_from_" + std::to_string(kilobytes) + "K"] = load_rate(isa, kilobytes << 10) * 1e-9;
  }
}

/// Any kernel with its typical shape: MiniLM's widths.
template <class Args>
void typical(benchmark::State& state, const Table* t, bool (*Table::*kernel)(const Args&)) {
  const auto shape = Case<Args>::Shape::typical(static_cast<uint32_t>(state.range(0)));
  Case<Args> c(1, &shape);
  if constexpr (std::is_same_v<Args, Attention>) c.prepare(*t);
  const Args a = c.args(*t);
  state.counters["best_us"] = best_seconds(state, [&] { (t->*kernel)(a); }) * 1e6;
}

struct Dense {
  uint32_t k, n;
};
/// The dense layers of MiniLM and BERT-base: fused q, k and v; attention's output; the two of the FFN.
constexpr Dense kDense[] = {{384, 1152}, {384, 384}, {384, 1536}, {1536, 384},
                            {768, 2304}, {768, 768}, {768, 3072}, {3072, 768}};

/// Weights for layers of one row: within the second-level cache (384 x 1152: 0.44 MB), and far beyond it.
struct Row {
  uint32_t k, n, matrices;
};
constexpr Row kRows[] = {{384, 384, 1},  {384, 1152, 1},  {1536, 384, 1},
                         {768, 3072, 1}, {384, 1536, 14}, {768, 768, 14}};

template <class F>
void add(const std::string& name, const F& f) {
  benchmark::RegisterBenchmark(name.c_str(), f)->MinTime(0.05);
}

void add_shapes(const Table* t, const std::string& isa) {
  benchmark::RegisterBenchmark(("peak/" + isa).c_str(), [t](benchmark::State& state) {
    peak(state, t->isa);
  })->Iterations(1);
  for (const Row& row : kRows) {
    const std::string shape = "/k:" + std::to_string(row.k) + "/n:" + std::to_string(row.n);
    add("linear_q8_row/" + isa + shape + "/matrices:" + std::to_string(row.matrices),
        [t, row](benchmark::State& state) { linear_q8_row(state, t, row.k, row.n, row.matrices); });
  }
  for (const Dense& dense : kDense) {
    const std::string shape = "/k:" + std::to_string(dense.k) + "/n:" + std::to_string(dense.n);
    for (const uint32_t m : {1u, 2u, 4u, 7u, 8u, 13u, 16u, 32u, 64u, 128u}) {
      const LinearShape s{m, dense.k, dense.n, Activation::kNone, true, false, false, false};
      const std::string name = "/m:" + std::to_string(m) + shape;
      add("linear_q8_shape/" + isa + name, [t, s](benchmark::State& state) { linear_q8_shape(state, t, s); });
      if (dense.k + dense.n > 2000) continue;
      add("linear_f32_shape/" + isa + name, [t, s](benchmark::State& state) { linear_f32_shape(state, t, s); });
    }
  }
  LinearShape gelu{64, 384, 1536, Activation::kGelu, true, false, false, false};
  add("linear_q8_gelu/" + isa + "/m:64/k:384/n:1536",
      [t, gelu](benchmark::State& state) { linear_q8_shape(state, t, gelu); });
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
    if (t->isa != Isa::kReference) add_shapes(t, isa);
  }
}

}  // namespace
}  // namespace bantam::kernels::test

int main(int argc, char** argv) { return bantam::bench::run_suite(argc, argv, bantam::kernels::test::add_all); }
