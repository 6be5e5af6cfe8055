// Next tokens: what a model that generates learns from, and what it is judged by.
#ifndef BANTAM_CONVERTER_TRAIN_NEXT_WORDS_H_
#define BANTAM_CONVERTER_TRAIN_NEXT_WORDS_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "train/network.h"
#include "train/trainer.h"

namespace bantam::train {

/// The rows of a batch, padded to the longest, behind which a token is known: their numbers through the batch, and the tokens, i64 [n].
struct NextWords {
  at::Tensor rows, wanted;
};
NextWords next_words(const std::vector<const Example*>& members);

/// Logits [n, V] of these rows of an output [B, T, V].
at::Tensor logits_at(const at::Tensor& output, const NextWords& words);

/// Cross-entropy with the tokens, mean over them; 0 where there is none. `smoothing` of the probability is spread over the vocabulary
/// (Szegedy et al., arXiv 1512.00567).
at::Tensor next_word_loss(const at::Tensor& logits, const NextWords& words, double smoothing);

/// By their names in the curve: loss (of a token, in nats; the primary score is its negative), perplexity, and the share of tokens
/// that the network finds likeliest. In batches of `batch` by length: the same bits however often a run was interrupted.
Scores foretold(const Network& network, const std::vector<Example>& examples, const Heads& heads,
                const ForwardOptions& options, uint32_t batch);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_NEXT_WORDS_H_
