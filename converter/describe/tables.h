// Lists of a file's content as JSON: operators, constant tensors, memory plan of the arena.
#ifndef BANTAM_CONVERTER_DESCRIBE_TABLES_H_
#define BANTAM_CONVERTER_DESCRIBE_TABLES_H_

#include <cstdint>

#include "bantam/model.h"
#include "base/ordered_json.h"

namespace bantam::convert {

/// Returns the number of elements of all constant tensors; shared ones count once.
uint64_t parameter_count(const Model& model);

/// Returns an object for each operator, in order of execution; O(operators).
OrderedJson ops_json(const Model& model);
/// Returns an object for each constant tensor.
OrderedJson tensors_json(const Model& model);
/// Returns an object for each tensor of the arena; O(tensors * operators).
OrderedJson plan_json(const Model& model);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_TABLES_H_
