// The nearest texts of an index, exactly: every vector is looked at, or every text that shares a term with the query.
#ifndef BANTAM_CONVERTER_SEARCH_SEARCH_H_
#define BANTAM_CONVERTER_SEARCH_SEARCH_H_

#include <cstdint>
#include <vector>

#include "bantam/session.h"
#include "search/index_file.h"

namespace bantam::convert {

struct Found {
  uint32_t entry = 0;
  float score = 0;  // cosine or product; of terms the sum of products of weights
};

/// The `top` vectors with the largest cosines to `query` (width() numbers), or products of an index of Length::kKept, best first, earlier entries first among equals;
/// fewer where the index holds fewer. A query of zeros finds nothing near: every score is 0.
///
/// One pass over the first bytes by int8 products (linear_q8 of `isa`), whose rounding moves a score by less than 1e-2 with
/// 384 numbers; the 4 * top + 40 best of them are scored again in f32 with both bytes. O(count * width).
std::vector<Found> find_nearest(const SearchIndex& index, const std::vector<float>& query, uint32_t top,
                                Isa isa = Isa::kAuto, Length length = Length::kDivided);

/// The `top` texts with the largest sums of products of the weights of terms that they share with `query` (smaller ids first), best
/// first, earlier entries first among equals; texts that share none are not among them. Of an index of terms. A term beyond
/// index.width() is one that no text has. Sums are made in doubles, in the order of the query's terms. O(postings of the query's terms +
/// count).
std::vector<Found> find_by_terms(const SearchIndex& index, const std::vector<bantam::Candidate>& query, uint32_t top);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_SEARCH_H_
