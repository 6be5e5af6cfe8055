// Exact search for the nearest texts of an index: it examines every vector, or every text that shares a term with the
// query.
#ifndef BANTAM_CONVERTER_SEARCH_SEARCH_H_
#define BANTAM_CONVERTER_SEARCH_SEARCH_H_

#include <cstdint>
#include <vector>

#include "bantam/session.h"
#include "search/index_file.h"

namespace bantam::convert {

struct Found {
  uint32_t entry = 0;  // of the record's best chunk
  float score = 0;     // cosine or product; for terms, the sum of products of weights
};

/// Flags of entries that a search may return, as entries_where makes them; empty: all.
using Allowed = std::vector<uint8_t>;

/// Returns the `top` records with the largest cosines to `query` (width() numbers), or the largest products in an index
/// of Length::kKept, each by its best chunk; best first, earlier entries first among equals. Returns fewer if the index
/// has fewer that are allowed. For a query of zeros, every score is 0.
///
/// One pass over the coarse bytes with int8 products (linear_q8 of `isa`), whose rounding changes a score by less than
/// 1e-2 at 384 numbers; the entries of at least the best 4 * top + 40 records are scored again in f32 with both bytes.
/// O(count * width), and as often as log4 of the chunks of a record that are candidates together.
std::vector<Found> find_nearest(const SearchIndex& index, const std::vector<float>& query, uint32_t top,
                                Isa isa = Isa::kAuto, Length length = Length::kDivided, const Allowed& allowed = {});

/// Searches an index of terms. Returns the `top` records with the largest sums of products of the weights of the terms
/// that they share with `query` (in ascending order of ids), each by its best chunk; best first, earlier entries first
/// among equals. Texts that share no term are not returned. Terms from index.width() on match no text. Sums are computed
/// in double precision, in the order of the query's terms. O(postings of the query's terms + count).
std::vector<Found> find_by_terms(const SearchIndex& index, const std::vector<bantam::Candidate>& query, uint32_t top,
                                 const Allowed& allowed = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_SEARCH_H_
