// Compares two vectors of a file by sentence-transformers' similarity functions.
#ifndef BANTAM_CONVERTER_SCORE_SIMILARITY_H_
#define BANTAM_CONVERTER_SCORE_SIMILARITY_H_

#include <vector>

#include "bantam/model.h"

namespace bantam::convert {

enum class Similarity { kCosine, kDot, kEuclidean, kManhattan };

/// Returns the function that the file's property "similarity" names; the cosine if it has none.
Similarity similarity_of(const Model& model);

/// Compares two vectors of the same length by their cosine, their dot product, or minus their distance. Sums are f64.
/// O(width).
float compare(Similarity by, const std::vector<float>& a, const std::vector<float>& b);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_SIMILARITY_H_
