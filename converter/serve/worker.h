// A model with a queue: one thread answers waiting texts in packed runs.
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

/// Writes the body of a reply from the answers, one after the other, on the worker's thread.
class BodyWriter {
 public:
  virtual ~BodyWriter() = default;
  /// Throws Error if the input cannot have an answer.
  virtual void put(const convert::Predictor& predictor, const convert::Input& input,
                   const convert::Prediction& prediction, std::string* body) = 0;
  virtual void finish(std::string* body) = 0;
};

/// The texts of one request.
struct Job {
  std::vector<std::string> texts;
  std::shared_ptr<const std::string> second;  // for every text; null: none
  uint32_t parts = 0;                         // the requested parts
  TextRole role = TextRole::kPlain;
  std::unique_ptr<BodyWriter> writer;
  /// Replaces `writer` for requests that are not lists of texts: does all the work. `room`: the number of texts that it
  /// counts as in the queue.
  std::function<Reply(convert::Engine&)> work;
  size_t room = 0;
  size_t most_reply = 0;  // largest number of bytes of the body
  Clock::time_point deadline;
  std::shared_ptr<const std::atomic<bool>> abandoned;  // nobody waits for the reply any more
  /// Receives the reply, once, on the worker's thread. It must not throw.
  std::function<void(Reply)> done;

  size_t queued() const { return work != nullptr ? room : texts.size(); }

  size_t next = 0;     // number of the next text to answer
  std::string body;    // the answers so far
  bool ended = false;  // `done` has been called
};

struct WorkerOptions {
  convert::EngineOptions engine;  // packed
  uint32_t top = 5;
  Aggregation aggregation = Aggregation::kFile;  // for files with labels of words
  size_t queue = 4096;                           // largest number of waiting texts
};

class Worker {
 public:
  /// Opens the file. Throws as ModelFile and Engine do, and for files that cannot answer single texts (unsupported).
  Worker(const std::string& file, const WorkerOptions& options, Metrics* metrics);
  /// Answers the waiting jobs first.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  const std::string& name() const { return name_; }
  const convert::ModelFile& file() const { return file_; }
  /// Returns which of an endpoint's `wanted` parts the file's answers have; 0: the endpoint does not suit the file's
  /// task.
  uint32_t parts(uint32_t wanted) const { return traits(file_.model().task()).parts & wanted; }

  size_t queue() const { return options_.queue; }
  /// Returns true if there is room for this many texts. Only one thread may call this and push().
  bool has_room(size_t texts) const;
  void push(Job job);

 private:
  void loop() noexcept;
  /// Takes jobs that can run together: jobs with the same parts, until their texts fill a run.
  std::list<Job> take(std::unique_lock<std::mutex>& lock);
  /// Replies to every job, whatever is thrown.
  void answer(std::list<Job>* jobs) noexcept;
  /// Returns the next texts of jobs, as many as fill a run.
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
  std::map<std::pair<uint32_t, TextRole>, std::unique_ptr<convert::Predictor>> predictors_;  // by parts and text role
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Job> jobs_;  // moved without allocation
  size_t waiting_ = 0;   // texts of jobs_
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_WORKER_H_
