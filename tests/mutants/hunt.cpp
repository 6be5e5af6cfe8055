// `hunt SECONDS SEEDS CHOSEN FOUND CHECK...`: opens changed files, and opens each again without the checks that it
// reached, one at a time. A changed verdict finds the check. FOUND gets a line for each check, HOW NUMBER NAME KIND
// CHANGE: HOW is `test` if a change of verdicts_test.cpp finds it (CHOSEN is its chosen.txt), or `random` if a further
// change, tried for SECONDS, does. CHECK: the numbers of the checks to look for. This only builds in the copy made by
// mutants.py.
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "../runtime/mutants.h"
#include "bantam/model.h"
#include "tests/fuzz/bytes_of.h"
#include "tests/fuzz/file_changes.h"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;
using bantam::Fault;
using bantam::Model;
using bantam::Status;

bool wanted[bantam::mutants::kMost];
size_t left = 0;
std::FILE* found_file = nullptr;
const char* how = "test";
std::string name;  // name of the seed

sigjmp_buf fell;
void fall(int) { siglongjmp(fell, 1); }

/// A check without which opening never ends, or crashes, counts as found.
void catch_signals() {
  static char stack[1 << 16];
  stack_t other = {};
  other.ss_sp = stack;
  other.ss_size = sizeof(stack);
  sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_handler = fall;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGVTALRM}) sigaction(signal, &action, nullptr);
}

struct Verdict {
  Status status = Status::kOk;
  const char* what = "";
  bool operator==(const Verdict& other) const { return status == other.status && std::strcmp(what, other.what) == 0; }
};

Verdict open(const Bytes& file) {
  Model model;
  Fault fault;
  Verdict verdict;
  verdict.status = Model::open(file.data(), file.size(), &model, &fault);
  if (verdict.status != Status::kOk) verdict.what = fault.what;
  return verdict;
}

/// Returns true if the verdict differs without the check.
bool misses(const Bytes& file, unsigned check, const Verdict& with) {
  const itimerval some = {{0, 0}, {1, 0}}, none = {};
  setitimer(ITIMER_VIRTUAL, &some, nullptr);
  bantam::mutants::removed = check;
  const bool differs = sigsetjmp(fell, 1) != 0 || !(open(file) == with);
  bantam::mutants::removed = 0;
  setitimer(ITIMER_VIRTUAL, &none, nullptr);
  return differs;
}

bool judge(const Bytes& file, const char* kind, uint64_t number) {
  bantam::mutants::met_count = 0;
  ++bantam::mutants::round;
  const Verdict verdict = open(file);
  const unsigned count = bantam::mutants::met_count;
  unsigned met[bantam::mutants::kMost];
  std::copy_n(bantam::mutants::met, count, met);
  for (unsigned i = 0; i < count; ++i) {
    if (!wanted[met[i]] || !misses(file, met[i], verdict)) continue;
    wanted[met[i]] = false;
    --left;
    std::fprintf(found_file, "%s %u %s %s %llu\n", how, met[i], name.c_str(), kind,
                 static_cast<unsigned long long>(number));
    std::fflush(found_file);
  }
  return verdict.status == Status::kOk;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const long seconds = std::atol(argv[1]);
  found_file = std::fopen(argv[4], "w");
  if (found_file == nullptr) return 1;
  for (int i = 5; i < argc; ++i, ++left) wanted[std::atol(argv[i]) % bantam::mutants::kMost] = true;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(argv[2])) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> seeds;
  for (const fs::path& path : paths) seeds.push_back(bantam::fuzz::bytes_of(path));
  catch_signals();
  std::vector<bantam::fuzz::FileChanges> changes;
  for (size_t i = 0; i < seeds.size(); ++i) {
    name = paths[i].filename().string();
    changes.emplace_back(seeds[i], seeds[(i + 1) % seeds.size()], judge);
    changes[i].try_tested(argv[3], name);
  }
  std::fprintf(stderr, "changes of the test leave %zu\n", left);
  how = "random";
  const std::time_t end = std::time(nullptr) + seconds;
  using bantam::fuzz::FileChanges;
  for (uint64_t n = 0; left != 0 && std::time(nullptr) < end; ++n) {
    for (size_t i = 0; i < changes.size(); ++i) {
      name = paths[i].filename().string();
      for (uint64_t k = 0; k < 8; ++k) changes[i].try_several(FileChanges::kSeveral + 8 * n + k);
      changes[i].try_tree(FileChanges::kTrees + n);
    }
  }
  std::fprintf(stderr, "random changes leave %zu\n", left);
  return 0;
}
