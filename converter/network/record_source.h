// What a file says of where its model comes from: names, licence, digests of the files that it was made of.
#ifndef BANTAM_CONVERTER_NETWORK_RECORD_SOURCE_H_
#define BANTAM_CONVERTER_NETWORK_RECORD_SOURCE_H_

#include <string>

#include "graph/graph.h"
#include "source/fields.h"
#include "source/model_source.h"

namespace bantam::convert {

void record_property(Graph& graph, const std::string& key, const std::string& value);

/// Names, licence and the digests of all files that the graph was made of. Its task is there.
void record_provenance(Graph& graph, const ModelSource& source, const Fields& config);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_RECORD_SOURCE_H_
