// How labels of tokens become entities unless the caller chooses otherwise at run time.
#ifndef BANTAM_CONVERTER_NETWORK_AGGREGATION_H_
#define BANTAM_CONVERTER_NETWORK_AGGREGATION_H_

#include "base/error.h"
#include "graph/graph.h"
#include "network/import_options.h"

namespace bantam::convert {

/// Sets the aggregation of all label sets for words; needs the tokenizer and the label sets. Without
/// options.aggregation it is `words` for BIOES labels, CRFs, models that also have intents, and a --tag-scheme that
/// reads the labels differently from transformers. Otherwise it is `first` if the tokenizer marks tokens that continue
/// a word (WordPiece), else `simple`: there transformers' `first` would join everything between blanks. An aggregation
/// for a model without labels of words is a problem.
void choose_aggregation(const ImportOptions& options, Graph& graph, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_AGGREGATION_H_
