// Data augmentation: exchanges slot values between sentences (an artist for an artist), and cuts and mixes texts.
#ifndef BANTAM_CONVERTER_TRAIN_AUGMENT_H_
#define BANTAM_CONVERTER_TRAIN_AUGMENT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::train {

/// The words of a sentence, each with its tag ("O", "B-X", "I-X"). `origin`: the sentence from which it was made.
struct TaggedWords {
  std::vector<std::string> words, tags;
  size_t origin = 0;
};

/// Returns `copies` versions of every sentence that has a slot. Each slot's value is replaced, with probability `rate`
/// (at least one per sentence), by a value of the same slot in another sentence; each distinct value is equally likely.
/// A quarter of the values are composed of the beginning of one value and the end of another. Equal arguments give
/// equal sentences.
std::vector<TaggedWords> substitute_slots(const std::vector<TaggedWords>& sentences, uint32_t copies, double rate,
                                          uint64_t seed);

/// The words of a text.
using Words = std::vector<std::string>;

/// Returns `copies` versions of every text with missing and foreign words, for a teacher to label (Tang et al., arXiv
/// 1903.12136): half of them are cut to a run of their words, a quarter are continued with a run of another text, and
/// each word is replaced, with probability `rate`, by a word of any text, where each distinct word is equally likely.
/// Equal arguments give equal texts.
std::vector<Words> vary_texts(const std::vector<Words>& texts, uint32_t copies, double rate, uint64_t seed);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_AUGMENT_H_
