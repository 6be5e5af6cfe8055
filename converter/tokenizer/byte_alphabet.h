// The letters that represent bytes in the files of byte-level tokenizers, as defined by GPT-2.
#ifndef BANTAM_CONVERTER_TOKENIZER_BYTE_ALPHABET_H_
#define BANTAM_CONVERTER_TOKENIZER_BYTE_ALPHABET_H_

#include <cstdint>
#include <string>

namespace bantam::convert {

/// The code point that represents a byte: a printable character represents itself, the others, in order, are U+0100 and
/// up.
uint32_t letter_of_byte(uint8_t byte);

/// Replaces the letters of `token` by their bytes. Returns false, with unspecified *bytes, if a letter represents no
/// byte.
bool bytes_of_letters(const std::string& token, std::string* bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_BYTE_ALPHABET_H_
