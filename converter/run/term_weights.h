// Term weights (SPLADE, arXiv 2107.05720): how much two texts have in common.
#ifndef BANTAM_CONVERTER_RUN_TERM_WEIGHTS_H_
#define BANTAM_CONVERTER_RUN_TERM_WEIGHTS_H_

#include <vector>

#include "bantam/tasks.h"

namespace bantam::convert {

/// Sorts terms by id, as the functions below require. O(terms * log(terms)).
std::vector<bantam::Candidate> by_id(std::vector<bantam::Candidate> terms);

/// Returns the sum of products of the weights of the terms that both texts have, added in ascending order of ids, in
/// double precision. The result has the same bits as the sum over the whole vocabulary. O(terms of both).
float product_of_terms(const std::vector<bantam::Candidate>& a, const std::vector<bantam::Candidate>& b);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_TERM_WEIGHTS_H_
