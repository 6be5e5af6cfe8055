// A futex on which a thread sleeps until another thread wakes it.
#ifndef BANTAM_HOST_BED_H_
#define BANTAM_HOST_BED_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace bantam::host {

/// One thread sleeps here, and one other thread wakes it.
class Bed {
 public:
  /// Sleeps until another thread wakes this one; returns at once if `found` is true. A thread that makes it true must
  /// call wake() afterwards.
  template <typename Found>
  void sleep(Found found) {
    asleep_.store(1);
    while (!found() && asleep_.load() == 1) futex(FUTEX_WAIT_PRIVATE, 1);
    asleep_.store(0);
  }
  void wake() {
    if (asleep_.load() == 1 && asleep_.exchange(0) == 1) futex(FUTEX_WAKE_PRIVATE, 1);
  }

 private:
  void futex(int operation, uint32_t value) {
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&asleep_), operation, value, nullptr, nullptr, 0);
  }

  std::atomic<uint32_t> asleep_{0};
};
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is 32 bits");

}  // namespace bantam::host

#endif  // BANTAM_HOST_BED_H_
