// Reads config.json's "label_sets": several sets of labels at once, and labels that stand above each other.
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
  std::vector<int32_t> parents;  // of each label the one above it or -1; empty: they stand side by side
  std::string tensor;            // of a layer of its own: NAME.weight; empty: rows of the head's last layer
};

/// A set without a name, whose labels stand side by side.
inline NamedLabels one_set(std::vector<std::string> labels) { return {"", std::move(labels), {}, ""}; }

/// Reads "label_sets": [{"name": ..., "labels": [...], "tensor": ..., "label_parents": {...}}, ...]; none if it is not
/// set. An invalid set becomes a problem that names it, and is left out.
std::vector<NamedLabels> read_label_sets(const Fields& config);

/// Reads "label_parents": {"football": "sports"} over `labels`: returns for each label the index of the one above it;
/// empty if it is not set. A name that is no label, or a label above itself, is a problem.
std::vector<int32_t> read_label_parents(const Fields& config, const std::vector<std::string>& labels);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_LABEL_SETS_H_
