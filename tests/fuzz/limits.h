// Limits of an input's cost: memory and time in proportion to its bytes. A fuzz target creates one at its beginning.
#ifndef BANTAM_TESTS_FUZZ_LIMITS_H_
#define BANTAM_TESTS_FUZZ_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <ctime>

namespace bantam::fuzz {

/// Ends the process, as any find does, when between its beginning and end more was allocated at a time, or more processor time
/// was spent, than `size` bytes may cost. Counts what goes through operator new.
class Limits {
 public:
  explicit Limits(size_t size);
  ~Limits();
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;

 private:
  size_t size_;
  std::clock_t start_;
};

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_LIMITS_H_
