// BANTAM_DAMAGE=STEP NAME_fuzz FOLDER...: runs the target on every file of the folders with one word changed, to limits
// of sizes, counts and floats, and to nearby values. A random search seldom changes one field of a file and leaves the
// rest intact. In model files only the graph is changed, since the rest is numbers. Every STEP-th change is tried, and
// fifty times as many if BANTAM_EXHAUSTIVE is set.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "format/header.h"
#include "tests/exhaustive.h"
#include "tests/fuzz/bytes_of.h"
#if defined(BANTAM_SANITIZED)
#include <sanitizer/common_interface_defs.h>
#endif

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

/// The current change, printed after a crash.
std::string current;

void tell() { std::fprintf(stderr, "%s\n", current.c_str()); }

void tell_signal(int signal) {
  tell();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Returns the values that a word may be changed to.
std::vector<uint32_t> changes_of(uint32_t word) {
  std::vector<uint32_t> values = {0,          1,      2,       3,          15,         16,         64,
                                  255,        0x7FFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0,
                                  0x7FC00000,   // NaN
                                  0x7F800000,   // infinity
                                  0x7149F2CA};  // 1e30
  for (const uint32_t near : {word + 1, word - 1, word + 4, word - 4, word << 8, word ^ 0x100}) values.push_back(near);
  values.erase(std::remove(values.begin(), values.end(), word), values.end());
  return values;
}

/// The range in which words are changed.
struct Range {
  size_t begin, end, stride;
};

/// Returns the range of a model file's graph; for other files, the beginning, where fields may start at any byte.
Range range_of(const std::vector<uint8_t>& bytes) {
  constexpr size_t kMost = size_t{64} << 10;
  bantam::FileHeader header;
  if (bantam::read_header(bytes.data(), bytes.size(), &header, nullptr) == bantam::Status::kOk) {
    const auto begin = static_cast<size_t>(header.graph_offset);
    return {begin, begin + static_cast<size_t>(header.graph_size), 4};
  }
  return {0, std::min(bytes.size(), kMost), 1};
}

/// Tries every step-th change. Returns the number of changes tried.
size_t damage(const fs::path& path, size_t step, size_t* number) {
  std::vector<uint8_t> bytes = bantam::fuzz::bytes_of(path);
  const Range range = range_of(bytes);
  size_t tried = 0;
  for (size_t at = range.begin; at + 4 <= range.end; at += range.stride) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    for (const uint32_t value : changes_of(word)) {
      if ((*number)++ % step != 0) continue;
      current = path.string() + ": word at " + std::to_string(at) + ": " + std::to_string(word) + " -> " +
                std::to_string(value);
      std::memcpy(bytes.data() + at, &value, sizeof(value));
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      ++tried;
    }
    std::memcpy(bytes.data() + at, &word, sizeof(word));
  }
  return tried;
}

}  // namespace

/// libFuzzer and replay.cpp call this before anything else.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const char* wanted = std::getenv("BANTAM_DAMAGE");
  if (wanted == nullptr) return 0;
  const size_t stated = std::max(std::strtoul(wanted, nullptr, 10), 1UL);
  const size_t step = bantam::testing::exhaustive() ? stated / 50 | 1 : stated;
#if defined(BANTAM_SANITIZED)
  __sanitizer_set_death_callback(tell);
#endif
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, tell_signal);
  size_t number = 0, tried = 0, files = 0;
  for (int i = 1; i < *argc; ++i) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator((*argv)[i])) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
      tried += damage(path, step, &number);
      ++files;
    }
  }
  std::printf("%zu changes of %zu files tried\n", tried, files);
  std::exit(tried > 0 ? 0 : 1);
}
