// Data of `distill` for models that generate: texts of decoders, pairs of texts of encoder-decoders, as tokens and the ones behind them.
#ifndef BANTAM_CONVERTER_TRAIN_TEXT_EXAMPLES_H_
#define BANTAM_CONVERTER_TRAIN_TEXT_EXAMPLES_H_

#include "data/text_source.h"
#include "graph/graph.h"
#include "train/distill.h"
#include "train/trainer.h"

namespace bantam::train {

/// Reads both files into `job`'s examples. `teacher` may be null; `warn` gets what is odd in a file of texts. Throws convert::Error listing data without targets, texts that are longer than
/// the student's positions (but where --max-tokens cuts them), and texts of which the teacher makes other tokens.
void read_next_words(const convert::Graph& student, const convert::Graph* teacher, const DistillOptions& options,
                     const convert::Warn& warn, Job* job);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_TEXT_EXAMPLES_H_
