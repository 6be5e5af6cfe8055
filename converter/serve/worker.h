// A model behind a queue: one thread answers the waiting texts in packed runs.
#ifndef BANTAM_CONVERTER_SERVE_WORKER_H_
#define BANTAM_CONVERTER_SERVE_WORKER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
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

/// Makes the body of a reply from answers, one after the other, on the worker's thread.
class BodyWriter {
 public:
  virtual ~BodyWriter() = default;
  /// Throws Error if the input can have no answer.
  virtual void put(const convert::Predictor& predictor, const convert::Input& input,
                   const convert::Prediction& prediction, std::string* body) = 0;
  virtual void finish(std::string* body) = 0;
};

/// One request's texts.
struct Job {
  std::vector<std::string> texts;
  std::shared_ptr<const std::string> second;  // of every text; null: none
  uint32_t parts = 0;                         // that are asked for
  TextRole role = TextRole::kPlain;
  std::unique_ptr<BodyWriter> writer;
  /// Replaces `writer` for requests that are no list of texts: the whole work, and the room that it takes in the queue.
  std::function<Reply(convert::Engine&)> work;
  size_t room = 0;
  size_t most_reply = 0;  // bytes of the body
  Clock::time_point deadline;
  std::shared_ptr<const std::atomic<bool>> abandoned;  // nobody waits for the reply any more
  /// Takes the reply, once, on the worker's thread. Must not throw.
  std::function<void(Reply)> done;

  size_t queued() const { return work != nullptr ? room : texts.size(); }

  size_t next = 0;     // text to be answered
  std::string body;    // of the answers before it
  bool ended = false;  // `done` has been called
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
  /// Answers the waiting jobs first.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  const std::string& name() const { return name_; }
  const convert::ModelFile& file() const { return file_; }
  /// Returns which of the `wanted` parts of an endpoint the file's answers have; 0: the endpoint is for another task.
  uint32_t parts(uint32_t wanted) const { return traits(file_.model().task()).parts & wanted; }

  size_t queue() const { return options_.queue; }
  /// Returns true if there is room for this many texts. Only one thread asks and pushes.
  bool has_room(size_t texts) const;
  void push(Job job);

 private:
  void loop() noexcept;
  /// Takes jobs that run together: jobs with the same parts, until their texts would fill a run.
  std::list<Job> take(std::unique_lock<std::mutex>& lock);
  /// Gives every job a reply, whatever is thrown.
  void answer(std::list<Job>* jobs) noexcept;
  /// Returns the next texts of jobs, together as many as fill a run.
  std::vector<Job*> next_texts(std::list<Job>* jobs, std::vector<convert::Input>* inputs) const;
  void answer_texts(const std::vector<Job*>& jobs, const std::vector<convert::Input>& inputs);
  void put(Job& job, const convert::Input& input, const convert::Prediction& prediction);
  static void end(Job& job, Reply reply) noexcept;
  convert::Predictor& predictor(const Job& job);

  WorkerOptions options_;
  Metrics* metrics_;
  convert::ModelFile file_;
  convert::Engine engine_;
  std::string name_;
  std::map<std::pair<uint32_t, TextRole>, std::unique_ptr<convert::Predictor>> predictors_;  // by parts and role
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Job> jobs_;  // moved without memory
  size_t waiting_ = 0;   // texts of jobs_
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_WORKER_H_
