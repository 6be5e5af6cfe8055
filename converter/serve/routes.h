// Paths of the server, and what their requests ask of models. Knows no sockets.
#ifndef BANTAM_CONVERTER_SERVE_ROUTES_H_
#define BANTAM_CONVERTER_SERVE_ROUTES_H_

#include <memory>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "serve/metrics.h"
#include "serve/replies.h"
#include "serve/worker.h"

namespace bantam::serve {

struct Endpoint;

/// What a path leads to.
struct Target {
  const Endpoint* endpoint = nullptr;  // null: nothing
  std::string model;                   // that the path names; "": none
  std::string name;                    // of the endpoint, for counting
};

class Routes {
 public:
  /// `models`: of different names.
  Routes(std::vector<std::unique_ptr<Worker>> models, Metrics* metrics);

  /// Where a request leads. False, with a reply (404, 405), where it leads nowhere.
  bool find(const std::string& path, const std::string& method, Target* target, Reply* refusal) const;

  /// Does the endpoint take texts, which a job answers? Else get() does.
  static bool takes_texts(const Target& target);
  Reply get(const Target& target) const;

  /// The model and the job of a request's body; null, with a reply, for one that is too large. Throws Error (400); `job` lacks its
  /// deadline and `done`.
  Worker* read(const Target& target, std::string body, Job* job, Reply* refusal) const;

 private:
  Worker& model_for(const Target& target, const convert::Json& request) const;
  std::string help() const;

  std::vector<std::unique_ptr<Worker>> models_;
  Metrics* metrics_;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_ROUTES_H_
