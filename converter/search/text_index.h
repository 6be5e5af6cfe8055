// Texts and an index: the files that make their vectors, which index fits which file, and the nearest texts.
#ifndef BANTAM_CONVERTER_SEARCH_TEXT_INDEX_H_
#define BANTAM_CONVERTER_SEARCH_TEXT_INDEX_H_

#include <functional>
#include <string>
#include <vector>

#include "run/chunks.h"
#include "run/predict.h"
#include "search/search.h"

namespace bantam::convert {

/// kVectorPart, of a file that gives vectors; throws (unsupported) for another.
uint32_t require_vectors(const ModelFile& file);

/// The parts of answers that a search asks of a file: weights of terms, without the row that they stand in, or vectors.
/// Fails (kUnsupported) where the file gives neither.
uint32_t searched_parts(const ModelFile& file);

/// Fails (kInvalid) unless the index in `path` was made with the file `model`: vectors of two models cannot be compared.
void require_same_model(const SearchIndex& index, const std::string& path, const std::string& model);

/// The index's own model, if it lies beside the index or in the working directory; else fails (kIo) and names the
/// option that sets it.
std::string model_beside(const SearchIndex& index, const std::string& path, const char* option);

/// How vectors of a file count in an index. Fails (kUnsupported) for distances.
Length searched_length(const ModelFile& file);

/// The options that make a query fit the index: the file's prompt for queries, and the index's width.
PredictOptions for_queries(const SearchIndex& index);

/// Calls find_nearest for the vector in `query`, or find_by_terms for its terms. Fails (kInvalid) where the index, in
/// `path`, has another width.
std::vector<Found> find_texts(const SearchIndex& index, const std::string& path, const Prediction& query, uint32_t top,
                              Isa isa, Length length);

/// Appends texts to an index, as documents, a batch at a time. `next` gives them, false at the end; `width`: numbers of a
/// vector that a new index keeps, 0: all; `progress` gets how many texts there are. Returns how many were cut.
size_t add_texts(const ModelFile& file, const EngineOptions& engine_options, uint32_t width,
                 const std::function<bool(std::string*)>& next, const std::function<void(size_t)>& progress,
                 IndexContents* contents);

/// The function that finds texts for chunks of texts of `file`, which outlives it: the nearest `count` lines of the index,
/// each with the lines behind it. Throws Error where another model than `embedder` made the index.
Retrieve retrieve_from(const std::string& index, const std::string& embedder, const ModelFile& file, uint32_t count,
                       const EngineOptions& options);

/// Vectors of texts, in batches.
class Embedder {
 public:
  /// `file` outlives the embedder. Throws as require_vectors.
  Embedder(const ModelFile& file, const EngineOptions& options);

  /// Appends the texts' vectors, one after the other, each of length 1 unless it is of zeros. `progress` gets how many
  /// are done; it may be null. Returns how many texts were cut.
  size_t embed(const std::vector<std::string>& texts, std::vector<float>* vectors,
               const std::function<void(size_t)>& progress = nullptr);

 private:
  Engine engine_;
  Predictor predictor_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_TEXT_INDEX_H_
