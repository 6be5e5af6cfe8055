// Generates the texts of requests: one thread, in whose batch requests join and leave between steps.
#ifndef BANTAM_CONVERTER_SERVE_TEXT_MAKER_H_
#define BANTAM_CONVERTER_SERVE_TEXT_MAKER_H_

#include <exception>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "run/continuous_batch.h"
#include "run/engine.h"
#include "serve/job_queue.h"
#include "serve/metrics.h"

namespace bantam::serve {

struct TextMakerOptions {
  convert::EngineOptions engine;
  uint32_t contexts = 8;  // texts at once
  uint32_t context = 0;   // tokens of a text with its prompt; 0: as generate
};

/// Returns true if the file's texts can be generated token by token.
bool makes_texts(const Model& model);

class TextMaker {
 public:
  /// `file` and `metrics` must outlive the object. Throws as Engine does.
  TextMaker(const convert::ModelFile& file, const TextMakerOptions& options, Metrics* metrics);
  /// Makes the waiting texts first.
  ~TextMaker();
  TextMaker(const TextMaker&) = delete;
  TextMaker& operator=(const TextMaker&) = delete;

  /// The number of texts that wait and are not begun.
  size_t waiting() const { return queue_.waiting(); }
  /// Takes a job with a completion.
  void push(Job job) { queue_.push(std::move(job)); }

 private:
  struct Choice;
  struct Request;

  void loop() noexcept;
  /// Replies to jobs that waited too long or whose clients have left, before they are begun.
  void drop_given_up();
  /// Ends requests that are begun and whose clients have left.
  void drop_abandoned();
  /// Begins as many choices as there is room for.
  void admit();
  Request* next_request();
  void begin(Request& request);
  /// Searches the texts of a request with beams, which take all contexts.
  void search(Request& request);
  void step();
  void take_made(Request& request);
  void finish(Request& request, size_t choice, std::string text, convert::Finish why);
  void send(Request& request);
  /// Replies, and removes the request.
  void end(Request& request, Reply reply);
  void fail_all() noexcept;

  Metrics* metrics_;
  const convert::ModelFile& file_;
  convert::Engine engine_;
  Tokenizer tokenizer_;
  convert::ContinuousBatch batch_;
  std::list<Request> active_;  // begun; the last one may have choices left that have not joined
  std::unordered_map<const convert::GeneratedSequence*, std::exception_ptr> failed_;  // in the last step
  JobQueue queue_;
  std::thread thread_;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_TEXT_MAKER_H_
