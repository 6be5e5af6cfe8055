// Chains of tags: what a conditional random field above a tagger's scores needs to know of the model.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_CHAIN_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_CHAIN_H_

#include <cstdint>
#include <string>

#include "graph/builder.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// Which tokens of a sequence a chain goes through; config.json's "crf_rows".
enum class ChainRows { kAll, kInner /* all but the first and the last */, kWords /* that begin words */ };

/// Where the checkpoint holds a conditional random field beside the head, in the names that pytorch-crf and AllenNLP give its parts
/// (crf.transitions, from tag to tag, crf.start_transitions, crf.end_transitions and, if there, crf._constraint_mask): the
/// scores of its best chains. Else `scores` themselves. Settings and shapes that do not fit are added to the problems.
int32_t add_chain(Builder& builder, const Fields& fields, Weights& weights, const std::string& name, int32_t scores);

/// Once the tokenizer is there: chains of words go through the tokens that begin one. Problems name what is missing.
void choose_members(Graph& graph, const Fields& fields, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_CHAIN_H_
