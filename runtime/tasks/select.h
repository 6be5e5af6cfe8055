// A row of logits, and selection of its best few by insertion: no buffer beyond the caller's.
#ifndef BANTAM_TASKS_SELECT_H_
#define BANTAM_TASKS_SELECT_H_

#include <stddef.h>
#include <stdint.h>

namespace bantam::tasks {

/// n floats, `stride` apart.
struct Logits {
  const float* data = nullptr;
  size_t stride = 1;
  uint32_t n = 0;
  float operator[](uint32_t i) const { return data[i * stride]; }
};

/// Writes {index, logit} of the largest `capacity` to out[] in descending order (ties: smaller index first) and returns
/// their number. Item is LabelScore or Candidate, Row is Logits or a row of label_tree.h. O(n * capacity) at worst,
/// near O(n) in practice.
template <typename Index, typename Item, typename Row>
uint32_t select_best(const Row& row, Item* out, uint32_t capacity) {
  if (capacity == 0) return 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < row.n; ++i) {
    const float x = row[i];
    if (count == capacity && !(x > out[count - 1].score)) continue;
    uint32_t slot = count < capacity ? count++ : capacity - 1;
    for (; slot > 0 && x > out[slot - 1].score; --slot) out[slot] = out[slot - 1];
    out[slot] = {static_cast<Index>(i), x};
  }
  return count;
}

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_SELECT_H_
