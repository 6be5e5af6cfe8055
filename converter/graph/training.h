// What training executes of a graph: `bantam distill` asks before it begins, and says what it lacks.
#ifndef BANTAM_CONVERTER_GRAPH_TRAINING_H_
#define BANTAM_CONVERTER_GRAPH_TRAINING_H_

#include <string>

#include "bantam_generated.h"

namespace bantam::convert {

/// Why training cannot execute this operator, as the end of "training does not know ..."; empty: it can.
std::string why_untrained(const fb::OpT& op);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_TRAINING_H_
