// Decides how many workers of a pool a loop should ask for: arithmetic on times, without clocks and threads.
#ifndef BANTAM_HOST_WORKER_COUNT_H_
#define BANTAM_HOST_WORKER_COUNT_H_

#include <cstdint>

namespace bantam::host {

/// If another process occupies a worker's processor, a task that the worker has begun waits for milliseconds, and the
/// loop waits with it. Time that workers save is credited, time that they lose is debited. A negative balance
/// removes one worker; one is added again only after a pause of 16 times the lost time, then 32 times, up to 128, so
/// that repeated attempts cost a small share of the total time. All times are in nanoseconds; only time in loops
/// counts, not the time between them.
class WorkerCount {
 public:
  explicit WorkerCount(uint32_t most) : most_(most), asked_(most) {}

  /// Number of workers that the next loop asks.
  uint32_t asked() const { return asked_; }

  /// Records a loop that took `elapsed`; the tasks of all threads took `worked` in total, about what one thread alone
  /// would need.
  void record(uint64_t elapsed, uint64_t worked) {
    if (pause_ > elapsed) {
      pause_ -= elapsed;
    } else {
      pause_ = 0;
    }
    const uint64_t alone = worked - worked / kDearer;
    const int64_t gain = static_cast<int64_t>(alone) - static_cast<int64_t>(elapsed);
    if (asked_ != 0) saved_ += gain;
    if (saved_ < 0) {
      pause_ = patience_ * static_cast<uint64_t>(kAdvance - saved_);
      patience_ = patience_ < kMostPatience ? 2 * patience_ : kMostPatience;
      saved_ = kAdvance;
      --asked_;
    } else if (saved_ >= kMost) {
      saved_ = kMost;
      patience_ = kPatience;
    }
    // Add one at a time: only if the last one added has proved useful, or if no worker is asked.
    if (pause_ == 0 && asked_ < most_ && (asked_ == 0 || saved_ == kMost)) {
      ++asked_;
      saved_ = kAdvance;
    }
  }

 private:
  static constexpr uint64_t kPatience = 16;
  static constexpr uint64_t kMostPatience = 128;
  /// A quarter of their work exists only because there are several threads: each reads what others have written from
  /// distant caches, and so does the code after the loop. On cores without a shared cache, loops of 5 us with a
  /// measured gain of 1.4 gain nothing.
  static constexpr uint64_t kDearer = 4;
  static constexpr int64_t kAdvance = 100'000;  // what a newly added worker may lose: it may be asleep at first
  static constexpr int64_t kMost = 8'000'000;   // two or three time slices of a scheduler

  uint32_t most_;
  uint32_t asked_;
  int64_t saved_ = kAdvance;
  uint64_t patience_ = kPatience;
  uint64_t pause_ = 0;  // loop time until one more worker is asked
};

}  // namespace bantam::host

#endif  // BANTAM_HOST_WORKER_COUNT_H_
