// The head of GLiNER (arXiv 2311.08526): scores of spans of words for labels that come with the text.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_SPAN_HEAD_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_SPAN_HEAD_H_

#include <cstdint>

#include "graph/builder.h"
#include "source/gliner.h"
#include "source/weights.h"

namespace bantam::convert {

/// Scores above the encoder's rows `x`. The library makes a row of each span and multiplies it with those of labels; its last two layers
/// are linear but for what lies between them, so that one is applied to words and the other to labels instead, with the same sums.
int32_t import_span_head(Builder& builder, Weights& weights, const GlinerSettings& settings, int32_t x);

/// The task's settings: tokens that mark labels and texts, from the graph's tokenizer, to which the rule for words is added. Without a
/// tokenizer ids tell nothing of them: a problem.
void resolve_finding(Graph& graph, const GlinerSettings& settings, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_SPAN_HEAD_H_
