// Compares word scores for masked tokens only with scores for all tokens, in one process and in turns: memory of the
// arena, and the fastest of PASSES passes over a text of TOKENS tokens with one mask. For a sparse embedding it reports
// arena and time.
//
//   words_costs FILE.bantam [TOKENS [PASSES]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "bantam/host.h"
#include "bantam/session.h"

namespace bantam {
namespace {

using Clock = std::chrono::steady_clock;

struct Free {
  void operator()(void* p) const { std::free(p); }
};

class Timed {
 public:
  Timed(const Model& model, uint32_t tokens, uint32_t scored) {
    SessionOptions options;
    options.max_tokens = tokens;
    options.scored_rows = scored;
    bytes_ = arena_bytes(model, options);
    arena_.reset(std::aligned_alloc(64, (bytes_ + 127) / 64 * 64));
    ready_ = bytes_ != 0 && Session::create(model, options, arena_.get(), bytes_, &session_) == Status::kOk;
  }
  bool ready() const { return ready_; }
  bool run(const Batch& batch) {
    const Clock::time_point begin = Clock::now();
    if (session_->run(batch) != Status::kOk) return false;
    best_ = std::min(best_, std::chrono::duration<double>(Clock::now() - begin).count());
    return true;
  }
  void print(const char* name) const {
    std::printf("%-20s arena %8.2f MB, used %8.2f MB, %8.3f ms\n", name, static_cast<double>(bytes_) / 1e6,
                static_cast<double>(session_->arena_high_water()) / 1e6, best_ * 1e3);
  }

 private:
  std::unique_ptr<void, Free> arena_;
  size_t bytes_ = 0;
  Session* session_ = nullptr;
  bool ready_ = false;
  double best_ = 1e9;
};

int run(const char* path, uint32_t tokens, int passes) {
  host::MappedFile file;
  const char* reason = "";
  Model model;
  if (file.open(path, &reason) != Status::kOk || Model::open(file.data(), file.size(), &model) != Status::kOk) {
    std::fprintf(stderr, "%s: cannot be opened %s\n", path, reason);
    return 3;
  }
  if (model.max_sequence() != 0) tokens = std::min(tokens, model.max_sequence());
  std::vector<int32_t> ids(tokens);
  for (uint32_t i = 0; i < tokens; ++i) ids[i] = static_cast<int32_t>((i * 2654435761u >> 8) % model.vocabulary());
  const uint32_t mask = tokens / 2;
  Batch all;
  all.ids = ids.data();
  all.tokens = tokens;
  Batch one = all;
  one.rows = &mask;
  one.row_count = 1;
  Timed whole(model, tokens, 0), alone(model, tokens, 1);
  if (!whole.ready()) return 4;
  for (int i = 0; i < passes; ++i) {
    if (!whole.run(all) || (alone.ready() && !alone.run(one))) return 4;
  }
  std::printf("%s, %u tokens, one thread\n", path, tokens);
  whole.print(alone.ready() ? "all tokens" : "whole");
  if (alone.ready()) alone.print("one mask");
  return 0;
}

}  // namespace
}  // namespace bantam

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: words_costs FILE.bantam [TOKENS [PASSES]]\n");
    return 2;
  }
  return bantam::run(argv[1], argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 128,
                     argc > 3 ? std::atoi(argv[3]) : 20);
}
