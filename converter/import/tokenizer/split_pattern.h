// Regular expressions that split texts, as published tokenizers have them, to the tables of runtime/text/split_table.h.
#ifndef BANTAM_CONVERTER_IMPORT_TOKENIZER_SPLIT_PATTERN_H_
#define BANTAM_CONVERTER_IMPORT_TOKENIZER_SPLIT_PATTERN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "import/tokenizer/code_set.h"

namespace bantam::convert {

/// How GPT-2 splits: tokenizer.json's ByteLevel, and vocab.json with merges.txt, mean it without writing it down.
extern const char* const kByteLevelPattern;
/// A text is one word.
extern const char* const kWholeTextPattern;

/// A parsed pattern.
struct PatternNode {
  enum class Kind {
    kSet,      // one code point of `set`
    kNotNext,  // nothing, where no code point of `set` follows
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
};

/// Parses literals, classes, \p{L} \p{M} \p{N} \p{P} \p{S} \s \r \n \t, groups, (?i: ), repetitions and (?!x) of one code
/// point. Throws std::invalid_argument with what is wrong, and where, for anything else.
std::unique_ptr<PatternNode> parse_pattern(const std::string& pattern);

/// The bytes of runtime/text/split_table.h. Throws std::invalid_argument with the reason for a pattern that does not parse,
/// needs more states or classes than the tables have, or leaves code points out. Deterministic.
std::vector<uint8_t> compile_pattern(const std::string& pattern);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_IMPORT_TOKENIZER_SPLIT_PATTERN_H_
