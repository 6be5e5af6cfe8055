// A summary of a file, from the file's own description.
#ifndef BANTAM_CONVERTER_DESCRIBE_SUMMARY_H_
#define BANTAM_CONVERTER_DESCRIBE_SUMMARY_H_

#include "base/ordered_json.h"
#include "run/engine.h"

namespace bantam::convert {

/// Returns names, sizes, labels, generation settings, arena bytes by number of tokens, and properties, as printed by
/// `bantam inspect --json`. O(labels + tensors).
OrderedJson summary_json(const ModelFile& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_SUMMARY_H_
