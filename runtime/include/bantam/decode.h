// Converts token ids back to text, as the decoders of Hugging Face's tokenizers do.
#ifndef BANTAM_DECODE_H_
#define BANTAM_DECODE_H_

#include <stddef.h>

#include "bantam/tokenizer.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Decodes one token after the other, as a model generates them. Writes text as soon as it is known; a character whose
/// bytes span several tokens is written with its last one. No heap; copyable.
class TextDecoder {
 public:
  /// Receives a piece of the text: whole UTF-8 characters. `target` is the pointer passed to open().
  using Write = void (*)(void* target, const char* bytes, size_t size);

  /// `tokenizer` must outlive *out. skip_special: special tokens produce no text. kUnsupported: the file does not say
  /// how its tokens become text; kOpNotLinked: a firmware image without decoding.
  static Status open(const Tokenizer& tokenizer, bool skip_special, Write write, void* target, TextDecoder* out);

  /// Redirects further text to another target. For copies of a decoder.
  void write_to(Write write, void* target) {
    write_ = write;
    target_ = target;
  }

  /// Decodes the next token. Ids outside the vocabulary produce no text. O(bytes of the token).
  void add(int32_t id);
  /// Bytes still missing from a character that has begun; 0: none has begun.
  uint32_t missing() const;
  /// Ends the text: writes what was held back for the next token. Bytes that form no character become U+FFFD.
  void finish();

 private:
  friend struct DecoderAccess;  // runtime/text/decode.cpp
  const void* table_ = nullptr;
  const uint8_t* data_ = nullptr;
  const uint8_t* text_ = nullptr;  // prefix or suffix of tokens, from the file's rules
  uint32_t text_size_ = 0;
  uint32_t kind_ = 0;
  uint32_t flags_ = 0;
  Write write_ = nullptr;
  void* target_ = nullptr;
  int32_t held_ = -1;   // a token held back because its text depends on whether it is the last; -1: none
  uint32_t strip_ = 0;  // blanks still to be stripped at the beginning of the text
  bool begun_ = false;  // a token was added
  bool skip_special_ = false;
  bool broken_ = false;  // the current bytes are not valid UTF-8 as a whole
  uint8_t pending_size_ = 0;
  uint8_t pending_[4] = {0, 0, 0, 0};  // the beginning of a character
};

/// Writes the text of ids[0, count) to out[0, capacity), not zero-terminated. *size is the length of the whole text,
/// also if it does not fit (kBufferTooSmall; the part that fits is written). Equal to Hugging Face's `decode` for any
/// ids. O(bytes).
Status decode(const Tokenizer& tokenizer, const int32_t* ids, size_t count, bool skip_special, char* out,
              size_t capacity, size_t* size);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_DECODE_H_
