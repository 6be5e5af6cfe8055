// Contiguous tokens of one segment: the keys of segment masks, and the texts retrieved for a chunk, one after the
// other.
#ifndef BANTAM_OPS_MORE_SEGMENTS_H_
#define BANTAM_OPS_MORE_SEGMENTS_H_

#include "ops/heads.h"

namespace bantam::ops {

/// Rows [begin, end).
struct RowSpan {
  uint32_t begin, end;
};

/// Returns the contiguous rows of [first, behind) around row `row` that belong to its segment. O(rows).
inline RowSpan run_of_segment(const int32_t* segments, uint32_t row, uint32_t first, uint32_t behind) {
  RowSpan run = {row, row + 1};
  while (run.begin > first && segments[run.begin - 1] == segments[row]) --run.begin;
  while (run.end < behind && segments[run.end] == segments[row]) ++run.end;
  return run;
}

/// Returns the contiguous rows of `sequence` around row `row` that belong to its segment.
inline RowSpan own_segment(const TileRun& run, uint32_t sequence, uint32_t row) {
  return run_of_segment(run.segments, row, run.offsets[sequence], run.offsets[sequence + 1]);
}

/// Returns the end of the rows of segment 0 with which [begin, end) begins.
inline uint32_t behind_front(const int32_t* segments, uint32_t begin, uint32_t end) {
  while (begin < end && segments[begin] == 0) ++begin;
  return begin;
}

/// Returns true if tokens attend to the texts that were retrieved for a chunk.
inline bool sees_retrieved(const fb::Model& model, const fb::Attention& a) {
  return linked::kChunks && a.cross() && chunk_tokens(model) != 0;
}

/// Returns the rows of states with the texts retrieved for the chunk of `sequence`; none if it has no chunk.
inline RowSpan retrieved_rows(const TileRun& run, uint32_t sequence) {
  if constexpr (linked::kChunks) {
    const uint32_t source = run.sources->numbers[sequence];
    if (source == kNoSource) return {0, 0};
    const uint32_t begin = source_row(run, sequence), end = begin + run.sources->lengths[source];
    return {behind_front(run.sources->segments, begin, end), end};
  }
  return {0, 0};
}

/// Returns the position of row `row` of the run among the tokens that belong to a chunk's source, counted from the
/// beginning of the chunk.
inline uint32_t place_beside_chunk(const TileRun& run, uint32_t sequence, uint32_t row) {
  const uint32_t chunk = chunk_tokens(run.model);
  return (place_of(run, sequence, row) + 1) % chunk + chunk - 1;
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_SEGMENTS_H_
