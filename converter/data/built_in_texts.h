// The texts that every build of the converter contains, for calibration, and for checking a file if the user supplies
// no texts.
#ifndef BANTAM_CONVERTER_DATA_BUILT_IN_TEXTS_H_
#define BANTAM_CONVERTER_DATA_BUILT_IN_TEXTS_H_

#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

namespace bantam::convert {

/// The writing system of a language, as far as it helps to tell whether a vocabulary was made from the language
/// (choose_texts.cpp).
enum class Script {
  kLatin,       // words between blanks; a vocabulary of any other such language has all letters and some words
  kAlphabet,    // other alphabets: Cyrillic, Greek, Arabic, Devanagari
  kSyllables,   // Hangul; Japanese kana among ideographs
  kIdeographs,  // Chinese: tokenizers read one character at a time
};

enum class TextKind {
  kCommand,    // commands to a device
  kOpinion,    // reviews
  kStatement,  // statements and questions on any subject
  kOdd,        // "!!!", formulas, addresses, a long sentence: for numerical accuracy, not for labels
};

struct BuiltInGroup {
  const char* language;  // ISO 639-1
  Script script;
  TextKind kind;
  const char* const* texts;
  size_t count;
};

std::vector<BuiltInGroup> english_texts();
std::vector<BuiltInGroup> texts_of_other_languages();

/// Returns 69 texts, always in the same order, because values measured on them determine bytes of files: commands,
/// opinions, statements, odd forms, one sentence in each of thirteen other languages, and a long text.
const std::vector<std::string>& calibration_texts();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_BUILT_IN_TEXTS_H_
