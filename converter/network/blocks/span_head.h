// The head of GLiNER (arXiv 2311.08526): scores of spans of words for labels that come with the text.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_SPAN_HEAD_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_SPAN_HEAD_H_

#include <cstdint>

#include "graph/builder.h"
#include "source/gliner.h"
#include "source/weights.h"

namespace bantam::convert {

/// Adds scores over the encoder's rows `x`. The library computes a row for each span and multiplies it with the rows of
/// labels. Only an activation lies between its last two linear layers; so here the first is applied to words and the
/// second to labels, which gives the same sums.
int32_t import_span_head(Builder& builder, Weights& weights, const GlinerSettings& settings, int32_t x);

/// Stores the task's settings: the tokens that mark labels and texts, found by the graph's tokenizer, to which the
/// splitting rule for words is added. A missing tokenizer is a problem, because these tokens cannot be found without
/// it.
void resolve_finding(Graph& graph, const GlinerSettings& settings, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_SPAN_HEAD_H_
