// Threads that run the tasks of one loop after another together with the calling thread.
#ifndef BANTAM_HOST_WORKERS_H_
#define BANTAM_HOST_WORKERS_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "host/bed.h"

namespace bantam::host {

/// A loop waits for tasks, not for workers: run() returns when all tasks that were begun are done and none is left,
/// whether or not each worker has come. One loop at a time.
class Workers {
 public:
  using Task = void (*)(void* arg, uint32_t index, uint32_t worker);

  /// Duration of a loop in nanoseconds, and what it would have taken the calling thread alone.
  struct Times {
    uint64_t elapsed = 0;
    uint64_t worked = 0;
  };

  /// Starts as many workers as the system provides, at most `most`.
  explicit Workers(uint32_t most);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  uint32_t count() const { return count_; }

  /// Runs task(arg, index, worker) for every index below `tasks`, on the calling thread, which is worker 0, and on
  /// workers 1 to `come`.
  Times run(uint32_t tasks, Task task, void* arg, uint32_t come);

 private:
  /// Written between loops; read only by threads that have begun a task, so that the loop has not ended.
  struct Loop {
    uint32_t number = 0;
    uint32_t tasks = 0;
    Task task = nullptr;
    void* arg = nullptr;
  };

  /// One thread's part of a loop: how many tasks it ran, on which processor, and how long they took.
  struct Share {
    uint32_t loop = 0;
    uint32_t tasks = 0;
    int processor = -1;
    uint64_t time = 0;  // ns of all its tasks
  };

  struct alignas(64) Worker {
    Workers* all = nullptr;
    uint32_t id = 0;  // from 1
    pthread_t thread = {};
    Bed bed;
    Share share;  // written before the last of its tasks is finished
  };

  static void* begin(void* worker);
  void serve(Worker& worker);
  bool is_asked(const Worker& worker) const { return worker.id <= asked_.load(std::memory_order_relaxed); }
  bool is_called(const Worker& worker) const;
  bool take(uint32_t* index);
  Share work(uint32_t worker);
  void finish(uint32_t tasks);
  Times measure(uint64_t elapsed, const Share& own) const;

  Loop loop_;
  alignas(64) std::atomic<uint32_t> unbegun_{0};     // tasks of the loop that no thread has begun
  alignas(64) std::atomic<uint32_t> unfinished_{0};  // tasks of the loop, begun or not
  Bed caller_;
  alignas(64) std::atomic<uint32_t> asked_{0};  // workers with ids up to this are asked
  std::atomic<int> processor_{-1};              // the processor on which the calling thread began the loop
  std::atomic<bool> ends_{false};
  uint32_t count_ = 0;
  Worker* workers_ = nullptr;
};

}  // namespace bantam::host

#endif  // BANTAM_HOST_WORKERS_H_
