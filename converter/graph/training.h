// Tells which operators training supports: `bantam distill` checks the graph before it starts, and names the
// unsupported ones.
#ifndef BANTAM_CONVERTER_GRAPH_TRAINING_H_
#define BANTAM_CONVERTER_GRAPH_TRAINING_H_

#include <string>

#include "bantam_generated.h"

namespace bantam::convert {

/// Returns why training does not support this operator, as the end of "training does not know ..."; empty if it does.
std::string why_untrained(const fb::OpT& op);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_TRAINING_H_
