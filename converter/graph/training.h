// Says which operators of a graph training can execute: `bantam distill` checks before it begins, and names those that
// it lacks.
#ifndef BANTAM_CONVERTER_GRAPH_TRAINING_H_
#define BANTAM_CONVERTER_GRAPH_TRAINING_H_

#include <string>

#include "bantam_generated.h"

namespace bantam::convert {

/// Returns why training cannot execute this operator, as the end of "training does not know ..."; empty if it can.
std::string why_untrained(const fb::OpT& op);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_TRAINING_H_
