// Maps paths and requests to jobs for models. It does not use sockets.
#ifndef BANTAM_CONVERTER_SERVE_ROUTES_H_
#define BANTAM_CONVERTER_SERVE_ROUTES_H_

#include <memory>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "serve/indexes.h"
#include "serve/metrics.h"
#include "serve/replies.h"
#include "serve/worker.h"

namespace bantam::serve {

struct Endpoint;

/// The endpoint and the model that a path names.
struct Target {
  const Endpoint* endpoint = nullptr;  // null: there is no such endpoint
  std::string model;                   // the name of the model in the path; empty: none
  std::string name;                    // name of the endpoint in the metrics
};

class Routes {
 public:
  /// `models` must have different names, and so must `indexes`, which these models made.
  Routes(std::vector<std::unique_ptr<Worker>> models, std::vector<std::unique_ptr<ServedIndex>> indexes,
         Metrics* metrics);

  /// Finds the target of a request. If there is none, returns false and sets a reply (404, 405).
  bool find(const std::string& path, const std::string& method, Target* target, Reply* refusal) const;

  /// Returns true if the endpoint accepts texts, which a job answers; otherwise get() answers.
  static bool takes_texts(const Target& target);
  Reply get(const Target& target) const;

  /// Parses a request's body: returns the model and fills `job`, except its deadline and `done`. For a body that is too
  /// large, returns null and sets a reply. Throws Error (400).
  Worker* read(const Target& target, std::string body, Job* job, Reply* refusal) const;

 private:
  Worker& model_for(const Target& target, const convert::Json& request) const;
  const ServedIndex& index_for(const Target& target, const convert::Json& request) const;
  Worker& read_search(const Target& target, convert::Json& request, Job* job) const;
  std::string help() const;

  std::vector<std::unique_ptr<ServedIndex>> indexes_;  // outlives the models, whose jobs search it
  std::vector<std::unique_ptr<Worker>> models_;
  Metrics* metrics_;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_ROUTES_H_
