// Limits on the cost of an input: memory and time in proportion to its size. A fuzz target creates one at its start.
#ifndef BANTAM_TESTS_FUZZ_LIMITS_H_
#define BANTAM_TESTS_FUZZ_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <ctime>

namespace bantam::fuzz {

/// Ends the process, as any finding does, if between construction and destruction the peak of allocated memory or the
/// processor time exceeds what `size` bytes may cost. Counts memory allocated by operator new.
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
