// Requests that rank texts by a query: bantam's own form, and those of text-embeddings-inference and Jina.
#ifndef BANTAM_CONVERTER_SERVE_RANKING_REQUESTS_H_
#define BANTAM_CONVERTER_SERVE_RANKING_REQUESTS_H_

#include <string>

#include "base/json_file.h"
#include "serve/worker.h"

namespace bantam::serve {

/// Fills `job` from the body of a request to `path`: /rank, /rerank or /v1/rerank. Throws Error (400).
void read_ranking(const std::string& path, convert::Json& request, const Worker& model, Job* job);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_RANKING_REQUESTS_H_
