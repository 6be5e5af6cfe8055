// Finds added tokens by id.
#ifndef BANTAM_TEXT_ADDED_IDS_H_
#define BANTAM_TEXT_ADDED_IDS_H_

#include <stdint.h>

#include "bantam_generated.h"

namespace bantam::text {

/// Returns the added token with this id; null if there is none. Ids are ascending: O(log n).
inline const fb::AddedToken* find_added(const fb::Tokenizer& tokenizer, uint32_t id) {
  const auto* added = tokenizer.added_tokens();
  uint32_t low = 0;
  uint32_t high = added == nullptr ? 0 : added->size();
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (added->Get(middle)->id() == id) return added->Get(middle);
    if (added->Get(middle)->id() < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return nullptr;
}

}  // namespace bantam::text

#endif  // BANTAM_TEXT_ADDED_IDS_H_
