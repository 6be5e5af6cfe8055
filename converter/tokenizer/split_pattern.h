// Regular expressions that split texts, as published tokenizers have them, to the tables of runtime/text/split_table.h.
#ifndef BANTAM_CONVERTER_TOKENIZER_SPLIT_PATTERN_H_
#define BANTAM_CONVERTER_TOKENIZER_SPLIT_PATTERN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/unicode/code_set.h"

namespace bantam::convert {

/// How GPT-2 splits: tokenizer.json's ByteLevel, and vocab.json with merges.txt, mean it without writing it down.
extern const char* const kByteLevelPattern;
/// A text is one word.
extern const char* const kWholeTextPattern;

/// How a split treats a pattern's matches and the text between them.
enum class SplitBehaviour {
  kIsolated,            // words, both
  kRemoved,             // matches are left out
  kMergedWithPrevious,  // a match is the end of what lies before it
  kMergedWithNext,      // and the beginning of what lies behind it
  kContiguous,          // matches beside each other are one
};

/// Code points of a set: a match is as many beside each other as there are, but no more than `most`.
struct SplitSet {
  CodeSet set;
  uint32_t most = 1;
};

/// One step of splitting.
struct SplitRule {
  std::string pattern;         // a regular expression, or, where it is empty,
  std::vector<SplitSet> sets;  // what matches; these have no code point in common
  SplitBehaviour behaviour = SplitBehaviour::kIsolated;
  bool invert = false;  // the text between matches takes the part of matches in `behaviour`
  CodeSet joins = {};   // of runs: characters that extend any run, and are left out in front of the first one
};

/// A parsed pattern.
struct PatternNode {
  enum class Kind {
    kSet,      // one code point of `set`
    kNext,     // nothing, where a code point of `set` follows
    kNotNext,  // nothing, where none of `set` follows, which may be the end
    kAll,      // `parts` one after the other
    kAny,      // the first of `parts` that leads to a match
    kRepeat,   // parts[0], `least` to `most` times, as often as can be
  };
  static constexpr uint32_t kEndless = 0xFFFFFFFF;

  Kind kind = Kind::kAll;
  CodeSet set;
  std::vector<std::unique_ptr<PatternNode>> parts;
  uint32_t least = 0;
  uint32_t most = kEndless;
  bool possessive = false;  // kRepeat of a kSet: none fewer than there are
};

/// A pattern as the states of runtime/text/split_table.h.
struct SplitStates {
  uint32_t stride = 0;
  uint32_t count = 0;
  std::vector<uint16_t> next;
  std::vector<uint8_t> class_of;  // of each code point
  uint32_t first_of_last = 0;     // first class of the set that is numbered last
  std::vector<uint8_t> ends;      // of each state, as version 3 has them; none: they are all 0
};

/// Code points of the set `last` have the last classes. Throws std::invalid_argument where the tables have no room for it.
SplitStates compile_states(const PatternNode& pattern, const CodeSet& last);

/// Parses literals, classes and classes within them, general categories and the larger scripts (\p{Lu}, \p{Han}), \s \w \d, groups,
/// (?i: ), repetitions, possessive ones of one code point, and (?=x) and (?!x) of one code point. Throws std::invalid_argument with
/// what is wrong, and where, for anything else.
std::unique_ptr<PatternNode> parse_pattern(const std::string& pattern);

/// The characters of a pattern whose matches all have as many, at least two; none: it is no such pattern.
std::vector<CodeSet> characters_of(const PatternNode& pattern);
/// The words where such characters are matches. Throws std::invalid_argument where the tables have no room for it.
SplitStates compile_text(const std::vector<CodeSet>& characters, SplitBehaviour behaviour, bool invert);

/// The words where such a pattern is found, where more than one character tells that it does not match. Throws
/// std::invalid_argument where the tables have no room for it, or its matches may be empty.
SplitStates compile_found(const PatternNode& pattern, bool drops_matches, bool drops_gaps);

/// The bytes of runtime/text/split_table.h for rules that are applied one after the other. Throws std::invalid_argument with
/// the reason for a pattern that does not parse, needs more states or classes than the tables have, or that joins its matches with what
/// lies between them though it takes more than one code point to know that there is none. `prefix_words`: words of the rules but the
/// last one get a blank before that splits them. `in_passes`: of version 2 or a later one. Deterministic.
std::vector<uint8_t> compile_split(const std::vector<SplitRule>& rules, bool prefix_words = false,
                                   bool in_passes = false);
/// For a pattern that shares texts out among its matches.
std::vector<uint8_t> compile_pattern(const std::string& pattern);
/// For such a pattern, whose matches that begin with a character that the pattern `dropped` matches are left out.
std::vector<uint8_t> compile_words(const std::string& pattern, const std::string& dropped);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_SPLIT_PATTERN_H_
