// Each source of the copy, in which checks test whether they are enabled, includes this.
#ifndef BANTAM_TESTS_MUTANTS_MUTANTS_H_
#define BANTAM_TESTS_MUTANTS_MUTANTS_H_

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

namespace bantam::mutants {

/// More than the number of checks; checks.py numbers them from 1.
constexpr unsigned kMost = 4096;

/// BANTAM_MUTANT: the number of the removed check.
inline unsigned removed =
    getenv("BANTAM_MUTANT") == nullptr ? 0u : static_cast<unsigned>(atoi(getenv("BANTAM_MUTANT")));
/// BANTAM_FOUND: the file to which the numbers of the checks that found something are appended, with the running test.
inline const char* const log_name = getenv("BANTAM_FOUND");
inline const int log = log_name == nullptr ? -1 : open(log_name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
inline std::atomic<bool> seen[kMost];
/// For hunt.cpp, which is single-threaded: the checks that found something since `round` was last increased.
inline unsigned round = 0;  // 0: nothing is recorded
inline unsigned met[kMost], met_count = 0, met_in[kMost];
inline char test[512] = "-";

/// Each check is reported once per test.
inline void begin_test(const char* suite, const char* name) {
  snprintf(test, sizeof test, "%s.%s", suite, name);
  for (std::atomic<bool>& one : seen) one = false;
}

/// Returns true if check `number` finds something, unless the check is removed.
inline bool found(unsigned number, bool condition) {
  if (!condition) return false;
  if (log >= 0 && number < kMost && !seen[number].exchange(true)) {
    char line[600];
    const int size = snprintf(line, sizeof line, "%u %s\n", number, test);
    if (write(log, line, static_cast<size_t>(size)) != size) abort();
  }
  if (round != 0 && met_in[number] != round) {
    met_in[number] = round;
    met[met_count++] = number;
  }
  return number != removed;
}

}  // namespace bantam::mutants

#endif  // BANTAM_TESTS_MUTANTS_MUTANTS_H_
