// A place where a thread sleeps until another thread wakes it.
#ifndef BANTAM_HOST_BED_H_
#define BANTAM_HOST_BED_H_

#include <atomic>
#include <cstdint>

#include "host/system.h"

namespace bantam::host {

/// One thread sleeps here, and one other thread wakes it.
class Bed {
 public:
  /// Sleeps until another thread wakes this one; returns at once if `found` is true. A thread that makes it true must
  /// call wake() afterwards.
  template <typename Found>
  void sleep(Found found) {
    asleep_.store(1);
    while (!found() && asleep_.load() == 1) sleep_while(asleep_, 1);
    asleep_.store(0);
  }
  void wake() {
    if (asleep_.load() == 1 && asleep_.exchange(0) == 1) wake_one(asleep_);
  }

 private:
  std::atomic<uint32_t> asleep_{0};
};

}  // namespace bantam::host

#endif  // BANTAM_HOST_BED_H_
