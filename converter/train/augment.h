// More sentences from those there are: slot values change places (an artist where an artist was), texts are cut and mixed.
#ifndef BANTAM_CONVERTER_TRAIN_AUGMENT_H_
#define BANTAM_CONVERTER_TRAIN_AUGMENT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::train {

/// One sentence in words, each with its tag ("O", "B-X", "I-X"). `origin`: which sentence it was made of.
struct TaggedWords {
  std::vector<std::string> words, tags;
  size_t origin = 0;
};

/// `copies` times every sentence that has a slot, in which each slot's value has been replaced, with probability `rate` (and
/// at least one), by one that stands in another sentence under the same name: each different value is equally likely. A
/// quarter of the values are cut from two: the beginning of one, the end of another. Equal arguments, equal sentences.
std::vector<TaggedWords> substitute_slots(const std::vector<TaggedWords>& sentences, uint32_t copies, double rate,
                                          uint64_t seed);

/// One text in words.
using Words = std::vector<std::string>;

/// `copies` times every text with something missing and something foreign, for a teacher to label (Tang et al., arXiv
/// 1903.12136): half of them cut to a run of their words, a quarter continued with a run of another text, and each word
/// replaced, with probability `rate`, by one of any text, each different word equally likely. Equal arguments, equal texts.
std::vector<Words> vary_texts(const std::vector<Words>& texts, uint32_t copies, double rate, uint64_t seed);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_AUGMENT_H_
