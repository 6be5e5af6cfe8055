// Names of the methods that turn token labels into entities, as used on the command line and in the library.
#ifndef BANTAM_CONVERTER_GRAPH_AGGREGATION_H_
#define BANTAM_CONVERTER_GRAPH_AGGREGATION_H_

#include <map>
#include <string>

#include "bantam/tasks.h"

namespace bantam::convert {

/// Maps "none", "simple", "first", "average", "max" and "words" to the methods.
std::map<std::string, Aggregation> aggregation_words();

/// Parses one of these names; "" means kFile. Throws Error (usage), whose message begins with `option`, for any other
/// name.
Aggregation parse_aggregation(const char* option, const std::string& name);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_AGGREGATION_H_
