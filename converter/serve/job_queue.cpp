#include "serve/job_queue.h"

#include <utility>

namespace bantam::serve {

size_t JobQueue::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return waiting_;
}

void JobQueue::push(Job job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const size_t queued = job.queued();
    jobs_.push_back(std::move(job));  // before it is counted, because this may run out of memory
    waiting_ += queued;
    metrics_->waiting += queued;
  }
  changed_.notify_one();
}

void JobQueue::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stops_ = true;
  }
  changed_.notify_one();
}

bool JobQueue::wait(bool busy) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return stops_ || !jobs_.empty() || busy; });
  return busy || !jobs_.empty();
}

void JobQueue::move_to(std::list<Job>* taken, std::list<Job>::iterator job) {
  waiting_ -= job->queued();
  metrics_->waiting -= job->queued();
  taken->splice(taken->end(), jobs_, job);
}

}  // namespace bantam::serve
