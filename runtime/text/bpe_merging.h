// Byte pair encoding by its definition, a window at a time: for merges in no order of training, whose tokens cannot be told
// from their own bytes and their neighbours alone (bpe.h).
#ifndef BANTAM_TEXT_BPE_MERGING_H_
#define BANTAM_TEXT_BPE_MERGING_H_

#include "text/bpe.h"

namespace bantam::text {

/// Merges what stands in bytes[0, size), 1 to kBpeWindow of them, until no two neighbours are a token: always those merged first, the
/// leftmost of equals. A unit that is no token stays one of its own, kNoToken. O(size log size).
void cut_by_merging(const Tables& tables, const uint8_t* bytes, uint32_t size, BpeCut* out);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_BPE_MERGING_H_
