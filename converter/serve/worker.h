// A model with a queue: one thread answers waiting texts in packed runs, another one generates texts.
#ifndef BANTAM_CONVERTER_SERVE_WORKER_H_
#define BANTAM_CONVERTER_SERVE_WORKER_H_

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "run/predict.h"
#include "serve/job_queue.h"
#include "serve/metrics.h"
#include "serve/text_maker.h"

namespace bantam::serve {

struct WorkerOptions {
  convert::EngineOptions engine;  // packed
  uint32_t top = 5;
  Aggregation aggregation = Aggregation::kFile;  // for files with labels of words
  size_t queue = 4096;                           // largest number of waiting texts
  uint32_t contexts = 8;                         // for files that generate: texts at once
  uint32_t context = 0;                          // for these: tokens of a text; 0: as generate
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
  uint32_t parts(uint32_t wanted) const { return engine_ ? traits(file_.model().task()).parts & wanted : 0; }
  /// Returns true if the file generates texts.
  bool makes_texts() const { return maker_ != nullptr; }

  size_t queue() const { return options_.queue; }
  /// Returns true if there is room for a job. Only one thread may call this and push().
  bool has_room(const Job& job) const;
  void push(Job job);

 private:
  void loop() noexcept;
  /// Takes jobs that can run together: jobs with the same parts, until their texts fill a run.
  std::list<Job> take();
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
  JobQueue queue_;
  convert::ModelFile file_;
  std::optional<convert::Engine> engine_;  // none: the file only generates texts
  std::string name_;
  std::map<std::pair<uint32_t, TextRole>, std::unique_ptr<convert::Predictor>> predictors_;  // by parts and text role
  std::thread thread_;
  std::unique_ptr<TextMaker> maker_;  // null: the file does not generate texts
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_WORKER_H_
