// Next tokens: the targets and the scores of models that generate.
#ifndef BANTAM_CONVERTER_TRAIN_NEXT_WORDS_H_
#define BANTAM_CONVERTER_TRAIN_NEXT_WORDS_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "train/network.h"
#include "train/trainer.h"

namespace bantam::train {

/// The rows of a padded batch whose next token is known: their indices in the batch, and these tokens, i64 [n].
struct NextWords {
  at::Tensor rows, wanted;
};
NextWords next_words(const std::vector<const Example*>& members);

/// Returns the logits [n, V] of these rows of an output [B, T, V].
at::Tensor logits_at(const at::Tensor& output, const NextWords& words);

/// Returns the mean cross-entropy with the tokens; 0 if there are none. The fraction `smoothing` of the probability is
/// spread over the vocabulary (Szegedy et al., arXiv 1512.00567).
at::Tensor next_word_loss(const at::Tensor& logits, const NextWords& words, double smoothing);

/// Returns the scores by their names in the curve: loss (per token, in nats; the primary score is its negative),
/// perplexity, and the fraction of tokens that are the network's most likely choice. Runs batches of `batch` examples
/// sorted by length, so that the bits are the same however often a run was interrupted.
Scores foretold(const Network& network, const std::vector<Example>& examples, const Heads& heads,
                const ForwardOptions& options, uint32_t batch);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_NEXT_WORDS_H_
