// Regular expressions over untrusted names: no recursion and no backtracking, so that neither a name nor a pattern can
// exhaust the stack or take exponential time (std::regex does both).
#ifndef BANTAM_CONVERTER_BASE_PATTERN_H_
#define BANTAM_CONVERTER_BASE_PATTERN_H_

#include <bitset>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// A reason why a text is not a valid pattern, phrased to follow the pattern in a message.
struct PatternError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An ECMAScript regular expression over bytes, without the features that finite automata lack (back-references,
/// look-ahead) and without named classes: literals . [..] [^..] \d \D \w \W \s \S \b \B ^ $ ( ) (?: ) | * + ? {m} {m,}
/// {m,n}, also lazy.
class Pattern {
 public:
  static constexpr size_t kMaxBytes = 1000;
  static constexpr size_t kMaxInstructions = 10000;  // repetitions are expanded
  static constexpr int kMaxDepth = 50;               // nesting depth of parentheses

  /// Throws PatternError.
  explicit Pattern(std::string_view text);

  /// Returns true if the pattern matches somewhere in `name`. O(bytes of name * instructions).
  bool search(std::string_view name) const;

 private:
  friend class PatternParser;

  enum class Kind : uint8_t { kSet, kSplit, kJump, kBegin, kEnd, kEdge, kNoEdge, kMatch };
  struct Instruction {
    Kind kind;
    int32_t first = 0;   // kSet: index of the set; kSplit, kJump: target relative to this instruction
    int32_t second = 0;  // kSplit: the second target
  };
  using Code = std::vector<Instruction>;
  using Set = std::bitset<256>;

  class Threads;

  Code code_;
  std::vector<Set> sets_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_PATTERN_H_
