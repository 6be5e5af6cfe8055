// A model behind a queue: one thread answers what waits, packed.
#ifndef BANTAM_CONVERTER_SERVE_WORKER_H_
#define BANTAM_CONVERTER_SERVE_WORKER_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "run/predict.h"
#include "serve/metrics.h"
#include "serve/replies.h"

namespace bantam::serve {

using Clock = std::chrono::steady_clock;

/// One request's texts.
struct Job {
  std::vector<convert::Input> inputs;
  uint32_t parts = 0;  // that are asked for
  TextRole role = TextRole::kPlain;
  /// The reply of the inputs' answers. Called on the worker's thread, once at most.
  std::function<Reply(const convert::Predictor&, const std::vector<convert::Prediction>&)> answer;
  /// Instead of `answer`, for what is no list of texts: all of the work.
  std::function<Reply(convert::Engine&)> work;
  Clock::time_point deadline;
  /// Takes the reply, once, on the worker's thread.
  std::function<void(Reply)> done;

  /// Room that it takes in the queue.
  size_t texts() const { return inputs.empty() ? 1 : inputs.size(); }
};

struct WorkerOptions {
  convert::EngineOptions engine;  // packed
  uint32_t top = 5;
  Aggregation aggregation = Aggregation::kFile;  // of files that give labels of words
  size_t queue = 4096;                           // texts that may wait
};

class Worker {
 public:
  /// Opens the file. Throws as ModelFile and Engine do, and for files that answer no single texts (unsupported).
  Worker(const std::string& file, const WorkerOptions& options, Metrics* metrics);
  /// What still waits is answered first.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  const std::string& name() const { return name_; }
  const convert::ModelFile& file() const { return file_; }
  /// Of the parts that an endpoint is for, those that the file's answers have; 0: it is for another task.
  uint32_t parts(uint32_t wanted) const { return traits(file_.model().task()).parts & wanted; }

  size_t queue() const { return options_.queue; }
  /// Is there room for so many texts? Only one thread asks and pushes.
  bool has_room(size_t texts) const;
  void push(Job job);

 private:
  void loop();
  /// Jobs that go together: of the same parts, until their texts would fill a run.
  std::vector<Job> take(std::unique_lock<std::mutex>& lock);
  void answer(std::vector<Job>* jobs);
  /// Answers of texts that are right apart, not all together.
  void answer_each(std::vector<Job>* jobs);
  Reply answer_one(Job& job);
  convert::Predictor& predictor(const Job& job);

  WorkerOptions options_;
  Metrics* metrics_;
  convert::ModelFile file_;
  convert::Engine engine_;
  std::string name_;
  std::map<std::pair<uint32_t, TextRole>, std::unique_ptr<convert::Predictor>> predictors_;  // by parts and role
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  size_t waiting_ = 0;  // texts of jobs_
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_WORKER_H_
