// Jobs that wait for the one thread that does them.
#ifndef BANTAM_CONVERTER_SERVE_JOB_QUEUE_H_
#define BANTAM_CONVERTER_SERVE_JOB_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>

#include "serve/job.h"
#include "serve/metrics.h"

namespace bantam::serve {

/// Any thread may call the functions. The metrics count what waits.
class JobQueue {
 public:
  /// `metrics` must outlive the queue.
  explicit JobQueue(Metrics* metrics) : metrics_(metrics) {}

  /// Returns the number of texts that wait.
  size_t waiting() const;
  void push(Job job);
  /// Ends waits: the thread does the jobs that are left, and then stops.
  void stop();

  /// Waits for a job, unless the thread is `busy` with other work. Returns false if there is no work and never will be.
  bool wait(bool busy);
  /// Takes jobs from the front, as long as wanted(job) returns true. Allocates nothing.
  template <class Wanted>
  std::list<Job> take_while(const Wanted& wanted) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::list<Job> taken;
    while (!jobs_.empty() && wanted(jobs_.front())) move_to(&taken, jobs_.begin());
    return taken;
  }
  /// Takes all jobs for which wanted(job) returns true. Allocates nothing.
  template <class Wanted>
  std::list<Job> take_all(const Wanted& wanted) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::list<Job> taken;
    for (auto it = jobs_.begin(); it != jobs_.end();) {
      const auto job = it++;
      if (wanted(*job)) move_to(&taken, job);
    }
    return taken;
  }

 private:
  void move_to(std::list<Job>* taken, std::list<Job>::iterator job);

  Metrics* const metrics_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Job> jobs_;  // moved without allocation
  size_t waiting_ = 0;   // texts of jobs_
  bool stops_ = false;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_JOB_QUEUE_H_
