// Memory that loading and running one model adds to a process: memory_probe FILE.bantam [TOKENS]
//
// Prints one JSON object: for each stage, the values of /proc/self/smaps_rollup (KB) and the milliseconds since the
// previous stage. "added_kb" is the growth of the resident set over all stages. "private_kb" is the part of it that no
// other process could share: the arena, and memory of the allocator and the C library. Linux only.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bantam/host.h"
#include "bantam/session.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Memory {
  long resident = 0;  // KB
  long dirty = 0;     // private and modified
  long shared = 0;    // clean or shared: pages of files
};

/// Reads without library buffers into static memory, so that measuring adds no memory.
Memory memory_now() {
  static char text[4096];
  Memory memory;
  std::FILE* file = std::fopen("/proc/self/smaps_rollup", "r");
  if (file == nullptr) return memory;
  std::setvbuf(file, nullptr, _IONBF, 0);
  const size_t size = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  text[size] = 0;
  const auto field = [](const char* name) {
    const char* at = std::strstr(text, name);
    return at == nullptr ? 0 : std::atol(at + std::strlen(name));
  };
  memory.resident = field("\nRss:");
  memory.dirty = field("\nPrivate_Dirty:");
  memory.shared = memory.resident - memory.dirty;
  return memory;
}

void require(bantam::Status status, const char* what) {
  if (status == bantam::Status::kOk) return;
  std::fprintf(stderr, "memory_probe: %s: %s\n", what, bantam::status_message(status));
  std::exit(1);
}

struct Stage {
  const char* name;
  Memory memory;
  double ms;
};

/// Returns ids that are spread over the vocabulary, unlike text: no two rows of the embedding are close to each other.
std::vector<int32_t> spread_ids(const bantam::Model& model, uint32_t tokens) {
  std::vector<int32_t> ids(tokens);
  for (uint32_t i = 0; i < tokens; ++i) ids[i] = static_cast<int32_t>(i * 7919u % model.vocabulary());
  return ids;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: memory_probe FILE.bantam [TOKENS (128)]\n");
    return 2;
  }
  const auto tokens = static_cast<uint32_t>(argc == 3 ? std::atoi(argv[2]) : 128);
  Stage stages[4] = {};
  uint32_t count = 0;
  memory_now();  // so that its own first use is not measured
  Clock::time_point begin = Clock::now();
  const auto reached = [&](const char* name) {
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    stages[count++] = {name, memory_now(), ms};
    begin = Clock::now();
  };
  reached("before");

  bantam::host::MappedFile file;
  require(file.open(argv[1]), argv[1]);
  bantam::Model model;
  require(bantam::Model::open(file.data(), file.size(), &model), argv[1]);
  reached("open");

  bantam::SessionOptions options;
  options.max_tokens = tokens;
  const size_t size = bantam::arena_bytes(model, options);
  void* arena = std::aligned_alloc(64, (size + 63) / 64 * 64);
  bantam::Session* session = nullptr;
  require(bantam::Session::create(model, options, arena, size, &session), "session");
  reached("create");

  const std::vector<int32_t> ids = spread_ids(model, tokens);
  const uint32_t offsets[2] = {0, tokens};
  bantam::Batch batch;
  batch.ids = ids.data();
  batch.offsets = offsets;
  batch.sequences = 1;
  batch.tokens = tokens;
  require(session->run(batch), "run");
  reached("run");

  std::printf(
      "{\"file_kb\": %zu, \"tokens\": %u, \"arena_kb\": %zu, \"added_kb\": %ld, \"private_kb\": %ld, \"stages\": [",
      file.size() / 1024, tokens, size / 1024, stages[3].memory.resident - stages[0].memory.resident,
      stages[3].memory.dirty - stages[0].memory.dirty);
  for (uint32_t i = 0; i < count; ++i) {
    std::printf(
        "%s{\"stage\": \"%s\", \"resident_kb\": %ld, \"private_dirty_kb\": %ld, \"file_pages_kb\": %ld, \"ms\": %.3f}",
        i == 0 ? "" : ", ", stages[i].name, stages[i].memory.resident, stages[i].memory.dirty, stages[i].memory.shared,
        stages[i].ms);
  }
  std::printf("]}\n");
  std::free(arena);
  return 0;
}
