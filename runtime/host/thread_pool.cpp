#include "bantam/host.h"

#if defined(BANTAM_HAS_PTHREADPOOL)

#include <pthreadpool.h>

#include <atomic>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BANTAM_TSAN
#endif
#endif
#if defined(BANTAM_TSAN) || defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#else
#define __tsan_acquire(address)  // NOLINT(bugprone-reserved-identifier)
#define __tsan_release(address)  // NOLINT(bugprone-reserved-identifier)
#endif

namespace bantam::host {
namespace {

struct Job {
  uint32_t count;
  void (*task)(void* arg, uint32_t index, uint32_t worker);
  void* arg;
  std::atomic<uint32_t> next{0};
};

/// pthreadpool calls this once for each worker id; the ids share the tasks among themselves. ThreadSanitizer cannot see
/// into that library, so it is told what pthreadpool orders: before run's call, this; this before its return.
void work(void* context, size_t worker) {
  __tsan_acquire(context);
  Job& job = *static_cast<Job*>(context);
  for (uint32_t i = job.next.fetch_add(1, std::memory_order_relaxed); i < job.count;
       i = job.next.fetch_add(1, std::memory_order_relaxed)) {
    job.task(job.arg, i, static_cast<uint32_t>(worker));
  }
  __tsan_release(context);
}

void run(void* context, uint32_t count, void (*task)(void* arg, uint32_t index, uint32_t worker), void* arg) {
  const auto& pool = *static_cast<const ThreadPool*>(context);
  Job job = {count, task, arg, {}};
  const size_t workers = count < pool.threads() ? count : pool.threads();
  __tsan_release(&job);
  pthreadpool_parallelize_1d(static_cast<pthreadpool_t>(pool.handle()), work, &job, workers, 0);
  __tsan_acquire(&job);
}

}  // namespace

bool ThreadPool::available() { return true; }

ThreadPool::ThreadPool(uint32_t threads) {
  if (threads > 1) pool_ = pthreadpool_create(threads);
  threads_ =
      pool_ == nullptr ? 1 : static_cast<uint32_t>(pthreadpool_get_threads_count(static_cast<pthreadpool_t>(pool_)));
  parallel_.context = this;
  parallel_.run = run;
}

ThreadPool::~ThreadPool() {
  if (pool_ != nullptr) pthreadpool_destroy(static_cast<pthreadpool_t>(pool_));
}

}  // namespace bantam::host

#else

namespace bantam::host {

bool ThreadPool::available() { return false; }
ThreadPool::ThreadPool(uint32_t) {}
ThreadPool::~ThreadPool() = default;

}  // namespace bantam::host

#endif
