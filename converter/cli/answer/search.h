// Functions that index, search and ask share.
#ifndef BANTAM_CONVERTER_CLI_SEARCH_H_
#define BANTAM_CONVERTER_CLI_SEARCH_H_

#include <string>
#include <vector>

#include "cli/answer/engine.h"
#include "run/predict.h"
#include "search/search.h"

namespace bantam::cli {

/// The parts of answers that a search asks of a file: weights of terms, without the row that they stand in, or vectors.
/// Fails (kUnsupported) where the file gives neither.
uint32_t searched_parts(const ModelFile& file);

/// Fails (kInvalid) unless the index in `path` was made with the file `model`: vectors of two models cannot be compared.
void require_same_model(const convert::SearchIndex& index, const std::string& path, const std::string& model);

/// The index's own model, if it lies beside the index or in the working directory; else fails (kIo) and names the
/// option that sets it.
std::string model_beside(const convert::SearchIndex& index, const std::string& path, const char* option);

/// How vectors of a file count in an index. Fails (kUnsupported) for distances.
convert::Length searched_length(const ModelFile& file);

/// The options that make a query fit the index: the file's prompt for queries, and the index's width.
convert::PredictOptions for_queries(const convert::SearchIndex& index);

/// Calls find_nearest for the vector in `query`, or find_by_terms for its terms. Fails (kInvalid) where the index, in
/// `path`, has another width.
std::vector<convert::Found> find_texts(const convert::SearchIndex& index, const std::string& path,
                                       const convert::Prediction& query, uint32_t top, Isa isa, convert::Length length);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_SEARCH_H_
