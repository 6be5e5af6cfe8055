// The texts that every build of the converter holds: to calibrate on, and to judge a file by when the user gives none.
#ifndef BANTAM_CONVERTER_DATA_BUILT_IN_TEXTS_H_
#define BANTAM_CONVERTER_DATA_BUILT_IN_TEXTS_H_

#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

namespace bantam::convert {

/// How a language is written, as far as it tells whether a vocabulary was made of it (choose_texts.cpp).
enum class Script {
  kLatin,       // words between blanks; a vocabulary of any other such language holds all letters, and some words
  kAlphabet,    // other alphabets: Cyrillic, Greek, Arabic, Devanagari
  kSyllables,   // Hangul; Japanese kana among ideographs
  kIdeographs,  // Chinese: tokenizers take a character at a time
};

enum class TextKind {
  kCommand,    // to a device
  kOpinion,    // reviews
  kStatement,  // statements and questions on anything
  kOdd,        // "!!!", formulas, addresses, a long sentence: for the exactness of numbers, not for labels
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

/// 69 of them, always the same in the same order: what is measured on them decides bytes of files. Commands, opinions,
/// statements, odd forms, a sentence each in thirteen other languages, and a long one.
const std::vector<std::string>& calibration_texts();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_BUILT_IN_TEXTS_H_
