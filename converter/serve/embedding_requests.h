// Requests for vectors of texts in the forms of OpenAI's API and of text-embeddings-inference.
#ifndef BANTAM_CONVERTER_SERVE_EMBEDDING_REQUESTS_H_
#define BANTAM_CONVERTER_SERVE_EMBEDDING_REQUESTS_H_

#include <string>

#include "base/json_file.h"
#include "serve/worker.h"

namespace bantam::serve {

/// Fill `job` from the body of a request to `path`: with "input", as OpenAI's API has it, or with "inputs". Throw Error
/// (400).
void read_embeddings(const std::string& path, convert::Json& request, const Worker& model, Job* job);
void read_inputs(const std::string& path, convert::Json& request, const Worker& model, Job* job);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_EMBEDDING_REQUESTS_H_
