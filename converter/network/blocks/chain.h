// Chains of tags: the parts of a conditional random field (CRF) that follow a tagger's scores.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_CHAIN_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_CHAIN_H_

#include <cstdint>
#include <string>

#include "graph/builder.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// The tokens of a sequence that a chain includes; config.json's "crf_rows".
enum class ChainRows { kAll, kInner /* all but the first and the last */, kWords /* that begin words */ };

/// If the checkpoint holds a CRF beside the head, adds it and returns the scores of its best chains; otherwise returns
/// `scores`. Tensor names are those of pytorch-crf and AllenNLP: crf.transitions (from tag to tag),
/// crf.start_transitions, crf.end_transitions and optionally crf._constraint_mask. Settings and shapes that do not fit
/// are added to the problems.
int32_t add_chain(Builder& builder, const Fields& fields, Weights& weights, const std::string& name, int32_t scores);

/// Makes chains of words include only tokens that begin a word; needs the tokenizer. Problems name what is missing.
void choose_members(Graph& graph, const Fields& fields, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_CHAIN_H_
