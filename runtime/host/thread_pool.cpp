#include <atomic>
#include <new>

#include "bantam/host.h"
#include "host/worker_count.h"
#include "host/workers.h"

namespace bantam::host {

struct ThreadPool::Threads {
  explicit Threads(uint32_t threads) : workers(threads - 1), worth(workers.count()) {}

  Workers workers;
  WorkerCount worth;
  std::atomic<uint32_t> busy{0};  // a word, because RISC-V has no atomic exchange of bytes
};

ThreadPool::ThreadPool(uint32_t threads) {
  if (threads > 1) handle_ = new (std::nothrow) Threads(threads);
  if (handle_ != nullptr) threads_ = handle_->workers.count() + 1;
  parallel_.context = handle_;
  parallel_.run = [](void* context, uint32_t count, Workers::Task task, void* arg) {
    auto& pool = *static_cast<Threads*>(context);
    // A second session that shares the pool also runs on its own thread: one thread can do the work of several.
    if (count < 2 || pool.busy.exchange(1, std::memory_order_acquire) != 0) {
      for (uint32_t i = 0; i < count; ++i) task(arg, i, 0);
      return;
    }
    const Workers::Times times = pool.workers.run(count, task, arg, pool.worth.asked());
    pool.worth.record(times.elapsed, times.worked);
    pool.busy.store(0, std::memory_order_release);
  };
}

ThreadPool::~ThreadPool() { delete handle_; }

}  // namespace bantam::host
