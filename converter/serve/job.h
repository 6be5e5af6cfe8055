// A request to a model, as its thread receives it.
#ifndef BANTAM_CONVERTER_SERVE_JOB_H_
#define BANTAM_CONVERTER_SERVE_JOB_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "run/predict.h"
#include "serve/completion.h"
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
  /// Replaces all of them: texts to generate.
  std::unique_ptr<const Completion> completion;
  size_t most_reply = 0;  // largest number of bytes of the body
  Clock::time_point deadline;
  std::shared_ptr<const std::atomic<bool>> abandoned;  // nobody waits for the reply any more
  /// Receives the reply, once, on the worker's thread. It must not throw.
  std::function<void(Reply)> done;
  /// Receives the beginning of a stream, piece by piece, on the worker's thread; `done` receives its end.
  std::function<void(std::string)> part;

  size_t queued() const {
    return completion != nullptr ? completion->choices() : work != nullptr ? room : texts.size();
  }

  /// Returns true if the client has left, or the job waited too long.
  bool is_given_up() const { return *abandoned || Clock::now() >= deadline; }
  Reply reply_to_given_up() const { return *abandoned ? Reply() : late_reply(); }

  size_t next = 0;     // number of the next text to answer
  std::string body;    // the answers so far
  bool ended = false;  // `done` has been called
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_JOB_H_
