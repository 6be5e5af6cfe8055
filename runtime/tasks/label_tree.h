// Rows of logits whose labels stand above each other (LabelSet.parents). The verifier has seen that no label is above itself and
// that at most kMostLevels are above each other.
#ifndef BANTAM_TASKS_LABEL_TREE_H_
#define BANTAM_TASKS_LABEL_TREE_H_

#include <float.h>

#include "bantam_generated.h"
#include "linked.h"
#include "tasks/select.h"

namespace bantam::tasks {

using Parents = flatbuffers::Vector<int32_t>;

/// Null where labels stand side by side, and where this build reads no others.
[[gnu::always_inline]] inline const Parents* parents_of(const fb::LabelSet& set) {
  if (!linked::kParents) return nullptr;
  const Parents* parents = set.parents();
  return parents != nullptr && parents->size() > 0 ? parents : nullptr;
}

/// The labels directly under `under` (-1: under none); the others never win and have no share.
struct Siblings {
  Logits logits;
  const Parents* parents;
  int32_t under;
  uint32_t n = logits.n;
  bool has(uint32_t label) const { return parents->Get(label) == under; }
  float operator[](uint32_t i) const { return has(i) ? logits[i] : -FLT_MAX; }
};

/// Logits that are at most those of the labels above.
struct Bounded {
  Logits logits;
  const Parents* parents;
  uint32_t n = logits.n;
  float operator[](uint32_t i) const {
    float least = logits[i];
    for (int32_t above = parents->Get(i); above >= 0; above = parents->Get(static_cast<uint32_t>(above))) {
      const float x = logits[static_cast<uint32_t>(above)];
      least = x < least ? x : least;
    }
    return least;
  }
};

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_LABEL_TREE_H_
