// `structure_search SECONDS SEED PATH...`: the target of structure_fuzz.cpp without coverage and sanitizers, for
// searching many files on every instruction set. First, every operand of each file of PATH is replaced. Then,
// repeatedly, a file of PATH, or a change of it by the schema (model_mutator.h), gets one to three of its numbers or
// words of data changed in place. Files of PATH are chosen so that each gets about the same time: smaller files more
// often. Every file is opened; one in eight, which takes as long as opening the other seven, is also used. A file that
// ends the process, or takes 20 s of processor time, is written to structure-SEED.bin.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/bytes_of.h"
#include "tests/fuzz/model_mutator.h"
#include "tests/fuzz/model_tree.h"
#include "tests/fuzz/use_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t kLargest = size_t{1} << 20;
constexpr uint32_t kVariants = 200;
constexpr uint64_t kUsed = 8;  // one of this many files is used

// State for signal handlers.
const uint8_t* volatile current = nullptr;
volatile size_t current_size = 0;
volatile std::sig_atomic_t moved = 1;
volatile std::sig_atomic_t stopped = 0;
char found_name[64];

void keep(int signal) {
  const int file = open(found_name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  for (size_t at = 0; file >= 0 && at < current_size;) {
    const ssize_t wrote = write(file, current + at, current_size - at);
    if (wrote <= 0) break;
    at += static_cast<size_t>(wrote);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Called every 20 s of processor time: aborts if the file is still the same.
void watch(int) {
  if (moved == 0) keep(SIGABRT);
  moved = 0;
}

/// Ends the search, with its counts, after the current file.
void stop(int) { stopped = 1; }

void try_file(const Bytes& file, bool uses = false) {
  current = file.data();
  current_size = file.size();
  moved = 1;
  bantam::fuzz::Done& done = bantam::fuzz::done;
  if (uses || done.inputs % kUsed == 0) {
    LLVMFuzzerTestOneInput(file.data(), file.size());
    return;
  }
  ++done.inputs;
  bantam::Model model;
  if (bantam::Model::open(file.data(), file.size(), &model) == bantam::Status::kOk) ++done.opened;
}

std::vector<Bytes> read_seeds(int count, char** paths) {
  std::vector<Bytes> seeds;
  for (int i = 0; i < count; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(paths[i])) {
      Bytes file = entry.is_regular_file() ? bantam::fuzz::bytes_of(entry.path()) : Bytes();
      bantam::FileHeader header;
      if (bantam::fuzz::graph_of(file, &header) != nullptr) seeds.push_back(std::move(file));
    }
  }
  return seeds;
}

/// Changes numbers in place, tries the file and restores it.
class Variants {
 public:
  Variants(Bytes* file, std::mt19937_64* random) : file_(*file), random_(*random) {
    bantam::FileHeader header;
    const uint8_t* graph = bantam::fuzz::graph_of(file_, &header);
    if (graph == nullptr) return;
    graph_ = static_cast<size_t>(header.graph_offset);
    data_ = static_cast<size_t>(header.data_offset);
    slots_ = bantam::fuzz::slots_of(graph);
  }

  void try_some() {
    for (uint32_t i = 0; i < kVariants && !slots_.empty(); ++i) {
      for (uint64_t n = random_() % 3 == 0 ? 2 + random_() % 2 : 1; n > 0; --n) change();
      try_file(file_);
      for (; !before_.empty(); before_.pop_back())
        std::memcpy(file_.data() + before_.back().first, &before_.back().second, sizeof(uint64_t));
    }
  }

 private:
  void change() {
    const size_t words = (file_.size() - data_) / sizeof(uint32_t);
    bantam::fuzz::Slot slot = slots_[random_() % slots_.size()];
    if (words != 0 && random_() % 5 == 0)
      slot = {data_ - graph_ + random_() % words * sizeof(uint32_t), reflection::UInt, -1};
    const size_t at = graph_ + slot.at;
    if (at + sizeof(uint64_t) > file_.size()) return;
    uint64_t before;
    std::memcpy(&before, file_.data() + at, sizeof(before));
    before_.emplace_back(at, before);
    bantam::fuzz::change_number(file_.data() + at, slot.base, slot.index, random_);
  }

  Bytes& file_;
  std::mt19937_64& random_;
  size_t graph_ = 0, data_ = 0;
  std::vector<bantam::fuzz::Slot> slots_;
  std::vector<std::pair<size_t, uint64_t>> before_;  // the last change is at the end
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: structure_search SECONDS SEED FOLDER...\n");
    return 2;
  }
  const std::time_t end = std::time(nullptr) + std::atol(argv[1]);
  std::snprintf(found_name, sizeof(found_name), "structure-%.20s.bin", argv[2]);
  std::mt19937_64 random(std::strtoull(argv[2], nullptr, 10));
  const std::vector<Bytes> seeds = read_seeds(argc - 3, argv + 3);
  if (seeds.empty()) {
    std::fprintf(stderr, "structure_search: no model file below the folders\n");
    return 1;
  }
  std::vector<double> weights;
  weights.reserve(seeds.size());
  for (const Bytes& seed : seeds) weights.push_back(1 / static_cast<double>(seed.size()));
  std::discrete_distribution<size_t> choose(weights.begin(), weights.end());
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(signal, keep);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, stop);
  std::signal(SIGPROF, watch);
  const itimerval interval = {{20, 0}, {20, 0}};
  setitimer(ITIMER_PROF, &interval, nullptr);
  const auto is_over = [end] { return stopped != 0 || std::time(nullptr) >= end; };
  // Each seed with every operand changed, starting with another seed for each SEED; those that open are used.
  for (size_t i = 0, first = random() % seeds.size(); i < seeds.size() && !is_over(); ++i) {
    bantam::fuzz::change_operands(seeds[(first + i) % seeds.size()], kLargest, [&](const Bytes& file, uint64_t) {
      if (!is_over()) try_file(file, true);
    });
  }
  while (!is_over()) {
    Bytes file = seeds[choose(random)];
    const Bytes& other = seeds[random() % seeds.size()];
    if (random() % 2 == 0) {
      if (auto made = bantam::fuzz::mutate_model(file, other, random(), kLargest)) {
        try_file(*made);
        if (random() % 2 == 0) file = std::move(*made);
      }
    }
    Variants(&file, &random).try_some();
  }
  return 0;
}
