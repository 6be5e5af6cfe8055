// Texts and indices: which files compute vectors, which index fits which file, and the nearest texts.
#ifndef BANTAM_CONVERTER_SEARCH_TEXT_INDEX_H_
#define BANTAM_CONVERTER_SEARCH_TEXT_INDEX_H_

#include <functional>
#include <string>
#include <vector>

#include "run/chunks.h"
#include "run/predict.h"
#include "search/record_source.h"
#include "search/search.h"

namespace bantam::convert {

/// Returns kVectorPart for a file that computes vectors; throws (unsupported) for others.
uint32_t require_vectors(const ModelFile& file);

/// Returns the parts of answers that a search needs from a file: term weights without the whole row of the vocabulary,
/// or vectors. Fails (kUnsupported) if the file computes neither.
uint32_t searched_parts(const ModelFile& file);

/// Fails (kInvalid) unless the index at `path` was made with the file `model`, because vectors of two models cannot be
/// compared.
void require_same_model(const SearchIndex& index, const std::string& path, const std::string& model);

/// Returns the path of the index's model if it is in the folder of the index or in the working directory; otherwise
/// fails (kIo) with the name of the option that sets it.
std::string model_beside(const SearchIndex& index, const std::string& path, const char* option);

/// Returns whether an index divides the file's vectors by their lengths. Fails (kUnsupported) for distances.
Length searched_length(const ModelFile& file);

/// Returns the options that make queries fit the index: the file's prompt for queries, and the index's width.
PredictOptions for_queries(const SearchIndex& index);

/// Calls find_nearest for the vector of `query`, or find_by_terms for its terms. Fails (kInvalid) if the index, at
/// `path`, has another width.
std::vector<Found> find_texts(const SearchIndex& index, const std::string& path, const Prediction& query, uint32_t top,
                              Isa isa, Length length, const Allowed& allowed = {});

struct Additions {
  size_t added = 0;      // records
  size_t replaced = 0;   // records that were removed because an added one has their id
  size_t truncated = 0;  // texts of which the model did not read the end
};

/// Appends records as documents to an index, one batch at a time; a record replaces an older one with its id. `next`
/// reads the next record and returns false at the end. `width`: the number of vector elements to keep in a new index;
/// 0: all. `progress` receives the number of added records so far.
Additions add_records(const ModelFile& file, const EngineOptions& engine_options, uint32_t width,
                      const std::function<bool(SourceRecord*)>& next, const std::function<void(size_t)>& progress,
                      IndexContents* contents);

/// Returns the function that finds texts for the chunks of texts of `file`, which must outlive it: the nearest `count`
/// lines of the index, each with the lines that follow it. Throws Error if the index was not made with the model
/// `embedder`.
Retrieve retrieve_from(const std::string& index, const std::string& embedder, const ModelFile& file, uint32_t count,
                       const EngineOptions& options);

/// Computes vectors of texts in batches.
class Embedder {
 public:
  /// `file` must outlive the embedder. Throws as require_vectors does.
  Embedder(const ModelFile& file, const EngineOptions& options);

  /// Appends the vectors of the texts, each scaled to length 1 unless it is zero. `progress` receives the number of
  /// finished texts; it may be null. Returns the number of truncated texts.
  size_t embed(const std::vector<std::string>& texts, std::vector<float>* vectors,
               const std::function<void(size_t)>& progress = nullptr);

 private:
  Engine engine_;
  Predictor predictor_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_TEXT_INDEX_H_
