// A file's summary, as it describes itself.
#ifndef BANTAM_CONVERTER_DESCRIBE_SUMMARY_H_
#define BANTAM_CONVERTER_DESCRIBE_SUMMARY_H_

#include "base/ordered_json.h"
#include "run/engine.h"

namespace bantam::convert {

/// Names, sizes, labels, settings of generating, arena bytes by the number of tokens, and properties: what
/// `bantam inspect --json` prints. O(labels + tensors).
OrderedJson summary_json(const ModelFile& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_SUMMARY_H_
