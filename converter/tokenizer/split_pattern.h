// Compiles regular expressions that split texts, as in published tokenizers, to the tables of
// runtime/text/split_table.h.
#ifndef BANTAM_CONVERTER_TOKENIZER_SPLIT_PATTERN_H_
#define BANTAM_CONVERTER_TOKENIZER_SPLIT_PATTERN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/unicode/code_set.h"

namespace bantam::convert {

/// GPT-2's pattern: the implicit pattern of ByteLevel in tokenizer.json, and of vocab.json with merges.txt.
extern const char* const kByteLevelPattern;
/// The whole text is one word.
extern const char* const kWholeTextPattern;

/// How a split treats a pattern's matches and the text between them.
enum class SplitBehaviour {
  kIsolated,            // both are words
  kRemoved,             // matches are removed
  kMergedWithPrevious,  // a match is appended to the text before it
  kMergedWithNext,      // a match is prepended to the text after it
  kContiguous,          // adjacent matches are merged
};

/// A set of code points: a match is a maximal run, but no longer than `most`.
struct SplitSet {
  CodeSet set;
  uint32_t most = 1;
};

/// One step of splitting.
struct SplitRule {
  std::string pattern;         // a regular expression; if empty, `sets` is used
  std::vector<SplitSet> sets;  // the sets that match, which must be disjoint
  SplitBehaviour behaviour = SplitBehaviour::kIsolated;
  bool invert = false;  // swaps the roles of matches and of the text between them
  CodeSet joins = {};   // for runs: characters that extend any run, and are dropped before the first one
};

/// A parsed pattern.
struct PatternNode {
  enum class Kind {
    kSet,      // one code point of `set`
    kNext,     // empty, if a code point of `set` follows
    kNotNext,  // empty, if no code point of `set` follows, also at the end
    kAll,      // `parts` in order
    kAny,      // the first of `parts` that leads to a match
    kRepeat,   // parts[0], `least` to `most` times, greedy
  };
  static constexpr uint32_t kEndless = 0xFFFFFFFF;

  Kind kind = Kind::kAll;
  CodeSet set;
  std::vector<std::unique_ptr<PatternNode>> parts;
  uint32_t least = 0;
  uint32_t most = kEndless;
  bool possessive = false;  // kRepeat of a kSet: never matches fewer than possible
};

/// A pattern as the states of runtime/text/split_table.h.
struct SplitStates {
  uint32_t stride = 0;
  uint32_t count = 0;
  std::vector<uint16_t> next;
  std::vector<uint8_t> class_of;  // of each code point
  uint32_t first_of_last = 0;     // first class of the set whose classes are last
  std::vector<uint8_t> ends;      // for each state, as in version 3; empty: all 0
};

/// The code points of the set `last` get the last classes. Throws std::invalid_argument if the tables are too small.
SplitStates compile_states(const PatternNode& pattern, const CodeSet& last);

/// Parses literals, classes and nested classes, general categories and the larger scripts (\p{Lu}, \p{Han}), \s \w \d,
/// groups, (?i: ), repetitions, possessive repetitions of one code point, and (?=x) and (?!x) of one code point. Throws
/// std::invalid_argument with the error and its position for anything else.
std::unique_ptr<PatternNode> parse_pattern(const std::string& pattern);

/// The characters of a pattern whose matches all have the same length of at least two; empty for any other pattern.
std::vector<CodeSet> characters_of(const PatternNode& pattern);
/// Splits at matches of these characters. Throws std::invalid_argument if the tables are too small.
SplitStates compile_text(const std::vector<CodeSet>& characters, SplitBehaviour behaviour, bool invert);

/// Splits at matches of a pattern for which more than one character may be needed to rule out a match. Throws
/// std::invalid_argument if the tables are too small, or if matches may be empty.
SplitStates compile_found(const PatternNode& pattern, bool drops_matches, bool drops_gaps);

/// Returns the bytes of runtime/text/split_table.h for rules that are applied in order. Throws std::invalid_argument
/// with the reason if a pattern does not parse, needs more states or classes than the tables allow, or merges its
/// matches with the text between them although more than one code point is needed to rule out a match. `prefix_words`:
/// words of all rules but the last get a leading space before the last rule splits them. `in_passes`: uses version 2 or
/// later. Deterministic.
std::vector<uint8_t> compile_split(const std::vector<SplitRule>& rules, bool prefix_words = false,
                                   bool in_passes = false);
/// For a pattern whose matches cover the whole text.
std::vector<uint8_t> compile_pattern(const std::string& pattern);
/// For such a pattern; drops matches that begin with a character that the pattern `dropped` matches.
std::vector<uint8_t> compile_words(const std::string& pattern, const std::string& dropped);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_SPLIT_PATTERN_H_
