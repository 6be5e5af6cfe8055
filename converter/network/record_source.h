// Records where a file's model comes from: names, licence, digests of the files that it was made of.
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

/// Properties of vectors: prompts of queries and documents where they differ from the usual one, and how vectors are compared.
void record_pooling(Graph& graph, const SentencePooling& pooling);

/// Records names, licence, the digests of all files that the graph was made of, and the function that makes scores of
/// pairs. The graph must have its task.
void record_provenance(Graph& graph, const ModelSource& source, const Fields& config, Problems& problems);

/// Lists keys of the source that may change answers and that nothing reads, where there are some, as a property of the
/// file; with `options.strict_source` each is a problem (unsupported) instead. The graph must have its task and its
/// inputs. `use` has the other facts.
void record_source_keys(Graph& graph, const ModelSource& source, const ImportOptions& options, KeyUse use,
                        Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_RECORD_SOURCE_H_
