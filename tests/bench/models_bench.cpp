// Whole models: opening, sessions, and forward passes by length, batch, threads and instruction set, as a fraction of
// the dot-product limit; int4 and static files compared with int8 files; and the gain from a second thread, compared
// with its gain in a loop of dot products only.
//
//   models_bench --benchmark_filter='run/minilm-int8/.*'
#include "probe/op_times.h"
#include "tests/bench/model_files.h"
#include "tests/bench/suite.h"

namespace bantam::bench {
namespace {

void open(benchmark::State& state, const ModelFile& file) {
  state.counters["best_us"] = 1e6 * best_seconds(state, [&] {
                                Model model;
                                require(Model::open(file.file.data(), file.file.size(), &model), file.name);
                                benchmark::DoNotOptimize(model);
                              });
}

/// Creates a session for 128 tokens (or the model's limit) in an existing arena.
void create(benchmark::State& state, const ModelFile& file) {
  SessionOptions options;
  const uint32_t longest = file.model.max_sequence();
  options.max_tokens = longest == 0 ? 128 : std::min(128u, longest);
  const size_t size = arena_bytes(file.model, options);
  void* arena = std::aligned_alloc(64, (size + 64) / 64 * 64);
  state.counters["best_us"] = 1e6 * best_seconds(state, [&] {
                                Session* session = nullptr;
                                require(Session::create(file.model, options, arena, size, &session), file.name);
                                benchmark::DoNotOptimize(session);
                              });
  state.counters["arena_bytes"] = static_cast<double>(size);
  std::free(arena);
}

/// Returns the milliseconds of one pass at the peak rates of one core.
double limit(Runner& runner, const probe::Peaks& peaks) {
  uint64_t int8 = 0;
  uint64_t f32 = 0;
  for (const probe::OpTime& op : probe::list_ops(runner.session().model(), runner.batch())) {
    int8 += op.int8_macs();
    f32 += op.f32_macs();
  }
  return probe::limit_ms(peaks, int8, f32);
}

void run(benchmark::State& state, const ModelFile& file, const std::vector<uint32_t>& lengths, uint32_t threads,
         Isa isa) {
  Runner runner(file, lengths, threads, isa);
  for (int i = 0; i < 3; ++i) runner.run();
  const probe::Peaks before = probe::measure_peaks(isa);
  const double best = 1e3 * best_seconds(state, [&] { runner.run(); });
  const probe::Peaks peaks = probe::larger(before, probe::measure_peaks(isa));
  state.counters["best_ms"] = best;
  state.counters["tokens/s"] = runner.batch().tokens / best * 1e3;
  state.counters["of_limit"] = limit(runner, peaks) / runner.threads() / best;
}

/// Returns the least milliseconds of a few passes, or `known` if that is less. Runners take turns, so the first passes
/// load the weights into the caches again.
double least(Runner& runner, double known) {
  for (int i = 0; i < 10; ++i) {
    const Clock::time_point begin = Clock::now();
    runner.run();
    if (i >= 2) known = std::min(known, 1e3 * seconds_since(begin));
  }
  return known;
}

/// Passes on one thread and on two take turns, with the two-thread probe between them. `of_probe`: the model's gain
/// divided by the probe's; on a machine whose cores share units or power, the probe gains less than a factor of 2.
void second_thread(benchmark::State& state, const ModelFile& file, uint32_t tokens) {
  Runner one(file, {tokens}, 1);
  Runner two(file, {tokens}, 2);
  if (two.threads() != 2) return state.SkipWithError("this build has no threads");
  const Isa isa = one.session().isa();
  double alone = 1e9;
  double both = 1e9;
  double probe_alone = 0;
  double probe_both = 0;
  for (auto _ : state) {
    probe_alone = std::max(probe_alone, probe::measure_int8_together(isa, nullptr, 1));
    alone = least(one, alone);
    probe_both = std::max(probe_both, probe::measure_int8_together(isa, two.parallel(), 2));
    both = least(two, both);
  }
  state.counters["one_ms"] = alone;
  state.counters["two_ms"] = both;
  state.counters["gain"] = alone / both;
  state.counters["probe_gain"] = probe_both / probe_alone;
  state.counters["of_probe"] = alone / both / (probe_both / probe_alone);
}

/// Passes of an int4 or static file and of the same model's int8 file take turns on one thread.
void over_int8(benchmark::State& state, const ModelFile& file, const ModelFile& int8, uint32_t tokens, Isa isa) {
  Runner first(file, {tokens}, 1, isa);
  Runner second(int8, {tokens}, 1, isa);
  double own = 1e9;
  double eight = 1e9;
  for (auto _ : state) {
    own = least(first, own);
    eight = least(second, eight);
  }
  state.counters["own_ms"] = own;
  state.counters["int8_ms"] = eight;
  state.counters["ratio"] = own / eight;
}

/// Integer files run on every instruction set; f32 files, and two threads, only on the best one.
void add_runs(const ModelFile& file, const std::vector<uint32_t>& lengths, const std::string& what) {
  const Isa best = fast_isas().empty() ? Isa::kReference : fast_isas().back();
  const bool integers = file.name.find("f32") == std::string::npos;
  for (const Isa isa : fast_isas()) {
    for (const uint32_t threads : {1u, 2u}) {
      if (isa != best && (threads != 1 || !integers)) continue;
      const std::string name =
          "run/" + file.name + "/" + isa_name(isa) + "/threads:" + std::to_string(threads) + "/" + what;
      benchmark::RegisterBenchmark(name.c_str(), [&file, lengths, threads, isa](benchmark::State& state) {
        run(state, file, lengths, threads, isa);
      })->MinTime(0.2);
    }
  }
}

/// Returns the same model's int8 file, or null.
const ModelFile* int8_of(const std::string& model) {
  for (const ModelFile& other : model_files()) {
    if (other.name == model + "-int8") return &other;
  }
  return nullptr;
}

/// Compares `file` with its model's int8 file if it has another type ("int4" or "static") and there is one.
void add_over_int8(const ModelFile& file) {
  const size_t at = file.name.rfind('-');
  if (at == std::string::npos) return;
  const std::string form = file.name.substr(at + 1);
  const ModelFile* int8 = int8_of(file.name.substr(0, at));
  if (int8 == nullptr || (form != "int4" && form != "static")) return;
  for (const Isa isa : fast_isas()) {
    for (const uint32_t tokens : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u}) {
      const std::string name =
          form + "_over_int8/" + file.name + "/" + isa_name(isa) + "/tokens:" + std::to_string(tokens);
      benchmark::RegisterBenchmark(name.c_str(), [&file, int8, tokens, isa](benchmark::State& state) {
        over_int8(state, file, *int8, tokens, isa);
      })->MinTime(0.3);
    }
  }
}

void add_all() {
  for (const ModelFile& file : model_files()) {
    add_over_int8(file);
    const uint32_t longest = file.model.max_sequence() == 0 ? 512 : file.model.max_sequence();
    benchmark::RegisterBenchmark(("open/" + file.name).c_str(), [&file](benchmark::State& state) {
      open(state, file);
    })->MinTime(0.05);
    benchmark::RegisterBenchmark(("create/" + file.name).c_str(), [&file](benchmark::State& state) {
      create(state, file);
    })->MinTime(0.05);
    for (const uint32_t tokens : {8u, 16u, 32u, 64u, 128u, 256u}) {
      if (tokens <= longest) add_runs(file, {tokens}, "tokens:" + std::to_string(tokens));
    }
    add_runs(file, std::vector<uint32_t>(8, 32), "batch:8x32");
    for (const uint32_t tokens : {16u, 32u, 64u, 128u, 256u}) {
      if (tokens > longest) continue;
      benchmark::RegisterBenchmark(("second_thread/" + file.name + "/tokens:" + std::to_string(tokens)).c_str(),
                                   [&file, tokens](benchmark::State& state) { second_thread(state, file, tokens); })
          ->Iterations(12);
    }
  }
}

}  // namespace
}  // namespace bantam::bench

int main(int argc, char** argv) { return bantam::bench::run_suite(argc, argv, bantam::bench::add_all); }
