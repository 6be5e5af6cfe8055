// Reads config.json's "label_sets": several sets of labels at once, and hierarchies of labels.
#ifndef BANTAM_CONVERTER_SOURCE_LABEL_SETS_H_
#define BANTAM_CONVERTER_SOURCE_LABEL_SETS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "source/fields.h"

namespace bantam::convert {

struct NamedLabels {
  std::string name;
  std::vector<std::string> labels;
  std::vector<int32_t> parents;  // index of each label's parent, or -1; empty: no hierarchy
  std::string tensor;            // a separate layer NAME.weight; empty: rows of the head's last layer
};

/// A set without a name and without a hierarchy.
inline NamedLabels one_set(std::vector<std::string> labels) { return {"", std::move(labels), {}, ""}; }

/// Reads "label_sets": [{"name": ..., "labels": [...], "tensor": ..., "label_parents": {...}}, ...]; empty if it is not
/// set. An invalid set becomes a problem that names it, and is omitted.
std::vector<NamedLabels> read_label_sets(const Fields& config);

/// Reads "label_parents": {"football": "sports"} over `labels`: returns the index of each label's parent; empty if it
/// is not set. A name that is not a label, or a label that is its own ancestor, is a problem.
std::vector<int32_t> read_label_parents(const Fields& config, const std::vector<std::string>& labels);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_LABEL_SETS_H_
