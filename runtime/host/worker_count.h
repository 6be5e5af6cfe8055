// How many workers of a pool a loop is worth: arithmetic on times, without clocks and threads.
#ifndef BANTAM_HOST_WORKER_COUNT_H_
#define BANTAM_HOST_WORKER_COUNT_H_

#include <cstdint>

namespace bantam::host {

/// Where another process has a worker's processor, a task that the worker has begun waits for milliseconds, and the loop
/// with it. Time that workers save is earned, time that they lose is spent: while some is left, all are asked to come.
/// Else one fewer is, and one more only after 16 times what was lost, then 32, up to 128, so that losing costs a small share of
/// all time however often it is tried. All times are nanoseconds; only those of loops count, not those between them.
class WorkerCount {
 public:
  explicit WorkerCount(uint32_t most) : most_(most), asked_(most) {}

  /// Workers that the next loop asks to come.
  uint32_t asked() const { return asked_; }

  /// A loop took `elapsed`, the tasks of all threads `worked`: about what one thread alone would have needed.
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
    // One more at a time: whoever came last has shown what he is worth, or nobody works.
    if (pause_ == 0 && asked_ < most_ && (asked_ == 0 || saved_ == kMost)) {
      ++asked_;
      saved_ = kAdvance;
    }
  }

 private:
  static constexpr uint64_t kPatience = 16;
  static constexpr uint64_t kMostPatience = 128;
  /// That part of their work threads do because they are several: each reads what others have made from far caches, and so does
  /// what comes behind the loop. On cores without a common cache, loops of 5 us that look like a gain of 1.4 gain nothing.
  static constexpr uint64_t kDearer = 4;
  static constexpr int64_t kAdvance = 100'000;  // what a worker that comes anew may lose: it may sleep at first
  static constexpr int64_t kMost = 8'000'000;   // two or three slices of a scheduler

  uint32_t most_;
  uint32_t asked_;
  int64_t saved_ = kAdvance;
  uint64_t patience_ = kPatience;
  uint64_t pause_ = 0;  // of loops, until one more is asked
};

}  // namespace bantam::host

#endif  // BANTAM_HOST_WORKER_COUNT_H_
