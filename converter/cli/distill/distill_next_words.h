// Data of `distill` for models that generate: texts of decoders, pairs of texts of encoder-decoders, as tokens and the ones behind them.
#ifndef BANTAM_CONVERTER_CLI_DISTILL_NEXT_WORDS_H_
#define BANTAM_CONVERTER_CLI_DISTILL_NEXT_WORDS_H_

#include "cli/distill/distill.h"
#include "graph/graph.h"
#include "train/trainer.h"

namespace bantam::cli {

/// Reads both files into `job`'s examples. `teacher` may be null. Throws Error listing data without targets, texts that are longer than
/// the student's positions (but where --max-tokens cuts them), and texts of which the teacher makes other tokens.
void read_next_words(const convert::Graph& student, const convert::Graph* teacher, const DistillOptions& options,
                     train::Job* job);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_DISTILL_NEXT_WORDS_H_
