// From a file's name to a session, as a program does once: map, Model::open, Session::create. Every iteration maps the
// file again, so that the time includes the page faults of opening.
//
//   open_bench FILE.bantam... [--benchmark_...]
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "bantam/host.h"
#include "bantam/session.h"

namespace bantam::bench {
namespace {

void require(Status status, const std::string& what) {
  if (status == Status::kOk) return;
  std::fprintf(stderr, "open_bench: %s: %s\n", what.c_str(), status_message(status));
  std::exit(1);
}

/// Creates a session with default options; its arena, whose size does not change, is allocated once.
void open_and_create(benchmark::State& state, const std::string& path) {
  std::unique_ptr<void, void (*)(void*)> arena(nullptr, std::free);
  for (auto _ : state) {
    host::MappedFile file;
    require(file.open(path.c_str()), path);
    Model model;
    require(Model::open(file.data(), file.size(), &model), path);
    const SessionOptions options;
    const size_t size = arena_bytes(model, options);
    if (arena == nullptr) arena.reset(std::aligned_alloc(64, (size + 63) / 64 * 64));
    Session* session = nullptr;
    require(Session::create(model, options, arena.get(), size, &session), path);
    benchmark::DoNotOptimize(session);
  }
}

void open_only(benchmark::State& state, const std::string& path) {
  for (auto _ : state) {
    host::MappedFile file;
    require(file.open(path.c_str()), path);
    Model model;
    require(Model::open(file.data(), file.size(), &model), path);
    benchmark::DoNotOptimize(model);
  }
}

}  // namespace
}  // namespace bantam::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 2) {
    std::fprintf(stderr, "open_bench: no files named, nothing measured; usage: open_bench FILE.bantam...\n");
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    const std::string path = argv[i];
    const std::string name = path.substr(path.find_last_of('/') + 1);
    benchmark::RegisterBenchmark(("open/" + name).c_str(), bantam::bench::open_only, path)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("open_and_create/" + name).c_str(), bantam::bench::open_and_create, path)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
