// Rows of logits of hierarchical labels (LabelSet.parents). The verifier has checked that no label is its own ancestor
// and that there are at most kMostLevels levels.
#ifndef BANTAM_TASKS_LABEL_TREE_H_
#define BANTAM_TASKS_LABEL_TREE_H_

#include <float.h>

#include "bantam_generated.h"
#include "linked.h"
#include "tasks/select.h"

namespace bantam::tasks {

using Parents = flatbuffers::Vector<int32_t>;

/// Returns null if the labels have no hierarchy, or if this build does not support hierarchies.
[[gnu::always_inline]] inline const Parents* parents_of(const fb::LabelSet& set) {
  if (!linked::kParents) return nullptr;
  const Parents* parents = set.parents();
  return parents != nullptr && parents->size() > 0 ? parents : nullptr;
}

/// The children of `under` (-1: the top level); all other labels never win and have no probability.
struct Siblings {
  Logits logits;
  const Parents* parents;
  int32_t under;
  uint32_t n = logits.n;
  bool has(uint32_t label) const { return parents->Get(label) == under; }
  float operator[](uint32_t i) const { return has(i) ? logits[i] : -FLT_MAX; }
};

/// Logits that are bounded by those of the labels above.
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
