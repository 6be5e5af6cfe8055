// Word vectors that a network computes from characters (character CNN: Kim et al., arXiv 1508.06615; ELMo, arXiv
// 1802.05365). The vocabulary is known at conversion: the network runs once for each word, and its output rows become
// the word table.
#ifndef BANTAM_CONVERTER_SOURCE_CHARACTER_CNN_H_
#define BANTAM_CONVERTER_SOURCE_CHARACTER_CNN_H_

#include "base/json_file.h"
#include "source/model_source.h"

namespace bantam::convert {

/// Returns true if config.json has a character network.
bool has_characters(const Json& config);

/// Replaces the tensors "characters." by the tensor "embedding.weight" [vocab_size, embedding_size], and removes the
/// setting "characters". The words come from the tokenizer's vocabulary; docs/elmo.md has settings, tensors and the
/// formula. Throws Error that lists all problems. O(words * characters of a word * parameters); memory: the table as
/// f32.
void fold_characters(ModelSource* source);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_CHARACTER_CNN_H_
