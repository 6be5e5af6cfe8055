// Byte pair encoding by its definition, one window at a time: for merges that are not in training order, whose tokens
// cannot be determined from their own bytes and adjacent tokens alone (bpe.h).
#ifndef BANTAM_TEXT_BPE_MERGING_H_
#define BANTAM_TEXT_BPE_MERGING_H_

#include "text/bpe.h"

namespace bantam::text {

/// Merges bytes[0, size), 1 to kBpeWindow of them, until no two adjacent tokens can be merged: always the merge with
/// the lowest rank, ties: the leftmost. A unit without a token remains a separate kNoToken. O(size log size).
void cut_by_merging(const Tables& tables, const uint8_t* bytes, uint32_t size, BpeCut* out);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_BPE_MERGING_H_
