// The words that conversion options accept, on the command line and in the library.
#ifndef BANTAM_CONVERTER_PIPELINE_OPTION_WORDS_H_
#define BANTAM_CONVERTER_PIPELINE_OPTION_WORDS_H_

#include <map>
#include <string>

#include "pipeline/convert.h"

namespace bantam::convert {

template <typename T>
using OptionWords = std::map<std::string, T>;

inline OptionWords<PrunePattern> pattern_words() {
  OptionWords<PrunePattern> words;
  for (const PrunePattern pattern : kPrunePatterns) words[pattern_name(pattern)] = pattern;
  return words;
}

inline OptionWords<RangeBy> range_words() {
  OptionWords<RangeBy> words;
  for (const RangeBy by : {RangeBy::kMinMax, RangeBy::kPercentile, RangeBy::kMse}) words[range_name(by)] = by;
  return words;
}

inline OptionWords<PruneScope> scope_words() {
  return {{"global", PruneScope::kGlobal}, {"uniform", PruneScope::kUniform}};
}

/// The criterion for pruning: the magnitudes of weights alone (false), or activations too (true).
inline OptionWords<bool> measure_words() { return {{"magnitude", false}, {"activations", true}}; }

inline OptionWords<Sparse> sparse_words() {
  return {
      {"auto", Sparse::kAuto}, {"never", Sparse::kNever}, {"always", Sparse::kAlways}, {"smallest", Sparse::kSmallest}};
}

inline OptionWords<fb::DType> residual_words() { return {{"f32", fb::DType::f32}, {"i8", fb::DType::i8}}; }

inline OptionWords<Plan> plan_words() { return {{"fast", Plan::kFast}, {"small", Plan::kSmall}}; }

inline OptionWords<Activations> activation_words() {
  return {{"dynamic", Activations::kDynamic}, {"static", Activations::kStatic}};
}

inline OptionWords<Rounding> rounding_words() { return {{"nearest", Rounding::kNearest}, {"gptq", Rounding::kGptq}}; }

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_OPTION_WORDS_H_
