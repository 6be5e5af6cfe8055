// Operators as sessions run them, with fused epilogues: time and fraction of the core's peak for each kind of operator
// of each model, on one thread. The session's observer distinguishes the kinds; every iteration is one forward pass.
//
//   operators_bench --benchmark_filter='minilm-int8/.*/Attention'
#include "probe/op_times.h"
#include "tests/bench/model_files.h"
#include "tests/bench/suite.h"

namespace bantam::bench {
namespace {

using probe::OpTime;

/// Returns the sum over all operators of one kind and type in one pass.
OpTime sum_of(const std::vector<OpTime>& ops, const OpTime& kind) {
  OpTime sum = kind;
  sum.macs = 0;
  sum.least = sum.mean = 0;
  for (const OpTime& op : ops) {
    if (op.kind != kind.kind || op.int8 != kind.int8) continue;
    sum.macs += op.macs;
    sum.least += op.least;
    sum.mean += op.mean;
  }
  return sum;
}

void run_kind(benchmark::State& state, const ModelFile& file, uint32_t tokens, const OpTime& kind) {
  Runner runner(file, {tokens}, 1);
  for (int i = 0; i < 3; ++i) runner.run();
  OpTime best = kind;
  best.least = 1e9;
  for (auto _ : state) {
    std::vector<OpTime> ops;
    require(probe::time_ops(
                runner.session(), runner.batch(), 1, 1,
                [](Session& session, const Batch& batch) { return session.run(batch); }, &ops),
            file.name);
    const OpTime sum = sum_of(ops, kind);
    state.SetIterationTime(sum.mean * 1e-3);
    if (sum.least < best.least) best = sum;
  }
  state.counters["best_us"] = best.least * 1e3;
  if (best.macs == 0) return;
  const probe::Peaks peaks = probe::measure_peaks(runner.session().isa());
  state.counters["GMAC/s"] = static_cast<double>(best.macs) / best.least * 1e-6;
  state.counters["of_peak"] = probe::limit_ms(peaks, best.int8_macs(), best.f32_macs()) / best.least;
}

void add_all() {
  for (const ModelFile& file : model_files()) {
    for (const uint32_t tokens : {16u, 64u, 128u}) {
      if (file.model.max_sequence() != 0 && tokens > file.model.max_sequence()) continue;
      Runner runner(file, {tokens}, 1);
      std::vector<OpTime> kinds;
      for (const OpTime& op : probe::list_ops(file.model, runner.batch())) {
        const auto same = [&op](const OpTime& kind) { return kind.kind == op.kind && kind.int8 == op.int8; };
        if (std::none_of(kinds.begin(), kinds.end(), same)) kinds.push_back(op);
      }
      for (const OpTime& kind : kinds) {
        const std::string type = kind.macs == 0 ? "" : kind.int8 ? "-int8" : "-f32";
        const std::string name = file.name + "/tokens:" + std::to_string(tokens) + "/" + kind.kind + type;
        benchmark::RegisterBenchmark(
            name.c_str(), [&file, tokens, kind](benchmark::State& state) { run_kind(state, file, tokens, kind); })
            ->UseManualTime()
            ->Iterations(30);
      }
    }
  }
}

}  // namespace
}  // namespace bantam::bench

int main(int argc, char** argv) { return bantam::bench::run_suite(argc, argv, bantam::bench::add_all); }
