// Indexes of texts that requests search, each with the model that made it.
#ifndef BANTAM_CONVERTER_SERVE_INDEXES_H_
#define BANTAM_CONVERTER_SERVE_INDEXES_H_

#include <memory>
#include <string>
#include <vector>

#include "search/hits.h"
#include "serve/worker.h"

namespace bantam::serve {

class ServedIndex {
 public:
  /// Reads the file into memory. `models` must outlive the index. Throws Error as SearchIndex does, and kInvalid if none
  /// of the models made it.
  ServedIndex(const std::string& path, const std::vector<std::unique_ptr<Worker>>& models);

  const std::string& name() const { return name_; }
  const convert::SearchIndex& index() const { return index_; }
  Worker& model() const { return model_; }

 private:
  std::string name_;
  convert::SearchIndex index_;
  Worker& model_;
};

struct SearchRequest {
  uint32_t top = 10;
  std::vector<convert::Condition> where;
  bool list = false;  // a reply for a list of queries
};

/// Writes the objects that `bantam search --json` prints. `index` must outlive the writer.
std::unique_ptr<BodyWriter> hits_writer(const ServedIndex& index, SearchRequest request);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_INDEXES_H_
