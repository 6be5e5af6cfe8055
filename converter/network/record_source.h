// Records the origin of a file's model: names, license, digests of the source files.
#ifndef BANTAM_CONVERTER_NETWORK_RECORD_SOURCE_H_
#define BANTAM_CONVERTER_NETWORK_RECORD_SOURCE_H_

#include <string>

#include "base/error.h"
#include "graph/graph.h"
#include "network/import_options.h"
#include "source/fields.h"
#include "source/keys.h"
#include "source/model_source.h"
#include "source/sentence_transformers.h"

namespace bantam::convert {

void record_property(Graph& graph, const std::string& key, const std::string& value);

/// Records properties of vectors: prompts of queries and documents if they differ from the usual one, and how vectors
/// are compared.
void record_pooling(Graph& graph, const SentencePooling& pooling);

/// Records names, license, the digests of all source files, and the function that computes scores of pairs. The graph
/// must have its task.
void record_provenance(Graph& graph, const ModelSource& source, const Fields& config, Problems& problems);

/// Lists keys of the source that may change answers but which nothing reads, as a property of the file if there are
/// any; with `options.strict_source` each is a problem (unsupported) instead. The graph must have its task and its
/// inputs. `use` states further facts about the model.
void record_source_keys(Graph& graph, const ModelSource& source, const ImportOptions& options, KeyUse use,
                        Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_RECORD_SOURCE_H_
