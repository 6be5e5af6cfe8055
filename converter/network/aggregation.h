// How labels of tokens become entities, where nothing at run time says otherwise.
#ifndef BANTAM_CONVERTER_NETWORK_AGGREGATION_H_
#define BANTAM_CONVERTER_NETWORK_AGGREGATION_H_

#include "base/error.h"
#include "graph/graph.h"
#include "network/import_options.h"

namespace bantam::convert {

/// Sets the aggregation of all label sets of words. Call it once tokenizer and label sets are there. Without
/// options.aggregation: `words` for BIOES labels, CRFs, models that have intents, too, and a --tag-scheme that reads
/// the labels otherwise than transformers does; else `first` where the tokenizer marks tokens that continue a word
/// (WordPiece), and `simple` where it does not: there transformers' `first` joins all that stands between blanks. A
/// strategy for a model without labels of words is a problem.
void choose_aggregation(const ImportOptions& options, Graph& graph, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_AGGREGATION_H_
