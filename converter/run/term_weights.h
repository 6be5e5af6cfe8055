// Weights of terms (SPLADE, arXiv 2107.05720): how much of what two texts are about is the same.
#ifndef BANTAM_CONVERTER_RUN_TERM_WEIGHTS_H_
#define BANTAM_CONVERTER_RUN_TERM_WEIGHTS_H_

#include <vector>

#include "bantam/tasks.h"

namespace bantam::convert {

/// Terms in the order of their ids, as the functions below take them. O(terms * log(terms)).
std::vector<bantam::Candidate> by_id(std::vector<bantam::Candidate> terms);

/// The sum of products of the weights of those terms that both have, smaller ids first, in doubles: the bits that the sum over all
/// words of the vocabulary has. O(terms of both).
float product_of_terms(const std::vector<bantam::Candidate>& a, const std::vector<bantam::Candidate>& b);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_TERM_WEIGHTS_H_
