#include "host/workers.h"

#include <time.h>

#include <new>

namespace bantam::host {
namespace {

/// An idle worker polls for as long as its tasks of the last loop took, because the other threads' tasks take as long,
/// within these bounds: longer than the calling thread is busy between loops of one pass, too short to cost other
/// processes much. A longer wait means that some thread is not running; if this one sleeps, the system may move that
/// thread to this processor.
constexpr uint64_t kLeastSpin = 30'000;  // ns
constexpr uint64_t kMostSpin = 1'000'000;

/// A task that took this many times as long as the shortest was interrupted.
constexpr uint64_t kUsual = 2;

uint64_t now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__ARM_ARCH_7A__)
  __asm__ volatile("yield" ::: "memory");
#endif
}

/// Polls until `found` is true, or gives up, after tasks that took `worked` nanoseconds. Reads the clock only
/// occasionally: that takes longer than a poll.
template <typename Found>
bool spin(uint64_t worked, Found found) {
  const uint64_t most = worked < kLeastSpin ? kLeastSpin : worked > kMostSpin ? kMostSpin : worked;
  const uint64_t begin = now();
  do {
    for (int i = 0; i < 16; ++i) {
      if (found()) return true;
      relax();
    }
  } while (now() - begin < most);
  return found();
}

}  // namespace

Workers::Workers(uint32_t most) : workers_(new (std::nothrow) Worker[most]) {
  while (workers_ != nullptr && count_ < most) {
    Worker& worker = workers_[count_];
    worker.all = this;
    worker.id = count_ + 1;
    if (pthread_create(&worker.thread, nullptr, begin, &worker) != 0) return;
    ++count_;
  }
}

Workers::~Workers() {
  ends_.store(true);
  for (uint32_t i = 0; i < count_; ++i) workers_[i].bed.wake();
  for (uint32_t i = 0; i < count_; ++i) pthread_join(workers_[i].thread, nullptr);
  delete[] workers_;
}

void* Workers::begin(void* worker) {
  auto& self = *static_cast<Worker*>(worker);
  self.all->serve(self);
  return nullptr;
}

bool Workers::is_called(const Worker& worker) const {
  return ends_.load() || (unbegun_.load() != 0 && is_asked(worker));
}

void Workers::serve(Worker& worker) {
  const auto called = [&] { return is_called(worker); };
  while (!ends_.load()) {
    // On the calling thread's processor, polling would keep that thread from its work.
    const bool apart = current_processor() != processor_.load(std::memory_order_relaxed);
    if (!(apart && is_asked(worker) && spin(worker.share.time, called))) worker.bed.sleep(called);
    const Share share = work(worker.id);
    if (share.tasks == 0) continue;
    worker.share = share;
    finish(share.tasks);
  }
}

/// Begins the next task of the current loop. The loop's data may be read only after that: before, the loop may end, and
/// a late worker then begins a task of another loop.
bool Workers::take(uint32_t* index) {
  uint32_t left = unbegun_.load(std::memory_order_acquire);
  do {
    if (left == 0) return false;
  } while (!unbegun_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel, std::memory_order_acquire));
  *index = loop_.tasks - left;
  return true;
}

/// Runs tasks of the current loop until none are left. The loop does not end before finish() was called for them.
Workers::Share Workers::work(uint32_t worker) {
  Share share;
  uint32_t index = 0;
  if (!take(&index)) return share;
  share.loop = loop_.number;
  const uint64_t begin = now();
  do {
    loop_.task(loop_.arg, index, worker);
    ++share.tasks;
  } while (take(&index));
  share.time = now() - begin;
  share.processor = current_processor();
  return share;
}

void Workers::finish(uint32_t tasks) {
  if (unfinished_.fetch_sub(tasks) == tasks) caller_.wake();
}

Workers::Times Workers::run(uint32_t tasks, Task task, void* arg, uint32_t come) {
  const uint64_t begin = now();
  if (come > count_) come = count_;
  asked_.store(come, std::memory_order_relaxed);
  if (come == 0 || tasks < 2) {
    for (uint32_t i = 0; i < tasks; ++i) task(arg, i, 0);
    const uint64_t elapsed = now() - begin;
    return {elapsed, elapsed};
  }
  loop_ = {loop_.number + 1, tasks, task, arg};
  processor_.store(current_processor(), std::memory_order_relaxed);
  unfinished_.store(tasks, std::memory_order_relaxed);
  unbegun_.store(tasks);
  for (uint32_t i = 0; i < come && i < tasks - 1; ++i) workers_[i].bed.wake();
  const Share own = work(0);
  finish(own.tasks);
  const auto done = [&] { return unfinished_.load() == 0; };
  if (!spin(own.time, done)) caller_.sleep(done);
  return measure(now() - begin, own);
}

/// Computes the times of a loop. A share that took much longer than the shortest was interrupted. Interruptions of
/// workers count as lost time; those of the calling thread do not, unless a worker runs on its processor.
Workers::Times Workers::measure(uint64_t elapsed, const Share& own) const {
  const int here = current_processor();
  const auto each = [this](auto what) {
    for (uint32_t i = 0; i < count_; ++i) {
      if (workers_[i].share.loop == loop_.number) what(workers_[i].share);
    }
  };
  uint64_t shortest = own.tasks != 0 ? own.time / own.tasks : UINT64_MAX;
  bool together = false;
  each([&](const Share& share) {
    const uint64_t mean = share.time / share.tasks;
    shortest = mean < shortest ? mean : shortest;
    together |= share.processor == here;
  });
  const auto usual = [shortest](const Share& share) {
    const uint64_t most = kUsual * shortest * share.tasks;
    return share.time < most ? share.time : most;
  };
  Times times = {elapsed, usual(own)};
  if (!together) times.elapsed -= own.time - times.worked;
  each([&](const Share& share) {
    if (share.processor != here) times.worked += usual(share);
  });
  return times;
}

}  // namespace bantam::host
