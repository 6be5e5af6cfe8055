// A parsed split pattern as the steps of a nondeterministic automaton; states are lists of steps.
#ifndef BANTAM_CONVERTER_TOKENIZER_SPLIT_STEPS_H_
#define BANTAM_CONVERTER_TOKENIZER_SPLIT_STEPS_H_

#include <cstdint>
#include <vector>

#include "tokenizer/split_pattern.h"
#include "tokenizer/unicode/code_classes.h"

namespace bantam::convert {

/// One step of the pattern.
struct SplitStep {
  enum class Do { kTake, kNext, kNotNext, kFork, kMatch };
  Do what = Do::kMatch;
  uint32_t set = 0;     // kTake, kNext, kNotNext
  uint32_t first = 0;   // the next step; kFork: the preferred one
  uint32_t second = 0;  // kFork
};

/// The pattern as steps.
class SplitSteps {
 public:
  /// Steps that may come next, in the order of preference.
  using List = std::vector<uint32_t>;

  std::vector<SplitStep> steps;
  std::vector<CodeSet> sets;
  uint32_t start = 0;

  /// Throws std::invalid_argument if the pattern is too large.
  explicit SplitSteps(const PatternNode& pattern);

  /// Returns the steps after a code point of class `c`. *match: the pattern matches before the code point; less
  /// preferred steps are then omitted.
  List follow(const CodeClasses& classes, const List& list, uint32_t c, bool* match) const;
  /// Returns true if the pattern matches before any code point and before the end.
  bool matches_surely(const List& list) const;

 private:
  uint32_t add(const SplitStep& step);
  uint32_t build(const PatternNode& node, uint32_t next);
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_SPLIT_STEPS_H_
