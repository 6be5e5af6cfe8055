// Names of the ways in which labels of tokens become entities, on the command line as in the library.
#ifndef BANTAM_CONVERTER_GRAPH_AGGREGATION_H_
#define BANTAM_CONVERTER_GRAPH_AGGREGATION_H_

#include <map>
#include <string>

#include "bantam/tasks.h"

namespace bantam::convert {

/// "none", "simple", "first", "average", "max", "words".
std::map<std::string, Aggregation> aggregation_words();

/// One of them, or "": kFile. Throws Error (usage) that begins with `option` for another name.
Aggregation parse_aggregation(const char* option, const std::string& name);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_AGGREGATION_H_
