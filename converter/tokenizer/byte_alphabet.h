// The letters that stand for bytes in the files of byte-level tokenizers, as GPT-2 chose them.
#ifndef BANTAM_CONVERTER_TOKENIZER_BYTE_ALPHABET_H_
#define BANTAM_CONVERTER_TOKENIZER_BYTE_ALPHABET_H_

#include <cstdint>
#include <string>

namespace bantam::convert {

/// The code point that stands for a byte: printed characters for themselves, the others, in order, U+0100 and up.
uint32_t letter_of_byte(uint8_t byte);

/// Replaces the letters of `token` by their bytes. False, and nothing in *bytes that counts, if one stands for none.
bool bytes_of_letters(const std::string& token, std::string* bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_BYTE_ALPHABET_H_
