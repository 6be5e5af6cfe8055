// Data of `distill` for models that generate: texts for decoders and pairs of texts for encoder-decoders, as tokens and
// next tokens.
#ifndef BANTAM_CONVERTER_TRAIN_TEXT_EXAMPLES_H_
#define BANTAM_CONVERTER_TRAIN_TEXT_EXAMPLES_H_

#include "data/text_source.h"
#include "graph/graph.h"
#include "train/distill.h"
#include "train/trainer.h"

namespace bantam::train {

/// Reads both files into the examples of `job`. `teacher` may be null; `warn` receives warnings about a file of texts.
/// Throws convert::Error that lists data without targets, texts longer than the student's positions (unless
/// --max-tokens truncates them), and texts for which the teacher makes other tokens.
void read_next_words(const convert::Graph& student, const convert::Graph* teacher, const DistillOptions& options,
                     const convert::Warn& warn, Job* job);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_TEXT_EXAMPLES_H_
