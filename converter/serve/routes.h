// Maps paths of the server and their requests to jobs for models. It knows no sockets.
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

/// The target of a path.
struct Target {
  const Endpoint* endpoint = nullptr;  // null: nothing
  std::string model;                   // that the path names; "": none
  std::string name;                    // of the endpoint, for counting
};

class Routes {
 public:
  /// `models` must have different names.
  Routes(std::vector<std::unique_ptr<Worker>> models, Metrics* metrics);

  /// Finds the target of a request. Returns false, with a reply (404, 405), if there is none.
  bool find(const std::string& path, const std::string& method, Target* target, Reply* refusal) const;

  /// Returns true if the endpoint takes texts, which a job answers; else get() answers.
  static bool takes_texts(const Target& target);
  Reply get(const Target& target) const;

  /// Reads a request's body: returns the model and fills `job`, except its deadline and `done`. Returns null, with a
  /// reply, for a body that is too large. Throws Error (400).
  Worker* read(const Target& target, std::string body, Job* job, Reply* refusal) const;

 private:
  Worker& model_for(const Target& target, const convert::Json& request) const;
  std::string help() const;

  std::vector<std::unique_ptr<Worker>> models_;
  Metrics* metrics_;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_ROUTES_H_
