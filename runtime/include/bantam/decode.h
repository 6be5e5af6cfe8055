// Token ids back to text, as the decoder of Hugging Face's tokenizer does it.
#ifndef BANTAM_DECODE_H_
#define BANTAM_DECODE_H_

#include <stddef.h>

#include "bantam/tokenizer.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// One token after the other, as a model says them. Text is handed on as soon as it is known; a character whose bytes are
/// several tokens when its last one comes. No heap; copyable.
class TextDecoder {
 public:
  /// Takes a piece of the text, whole characters of UTF-8. `target` is what open() was given.
  using Write = void (*)(void* target, const char* bytes, size_t size);

  /// `tokenizer` outlives *out. skip_special: special tokens give no text. kUnsupported where the file does not say how its
  /// tokens become text; kOpNotLinked in firmware images that leave this out.
  static Status open(const Tokenizer& tokenizer, bool skip_special, Write write, void* target, TextDecoder* out);

  /// From here on text goes to another place: for copies.
  void write_to(Write write, void* target) {
    write_ = write;
    target_ = target;
  }

  /// The next token. Ids that are no token give no text. O(bytes of the token).
  void add(int32_t id);
  /// Bytes that a character lacks which has begun; 0: none has.
  uint32_t missing() const;
  /// The end: what was kept for the next token. Bytes that are no character become U+FFFD.
  void finish();

 private:
  friend struct DecoderAccess;  // runtime/text/decode.cpp
  const void* table_ = nullptr;
  const uint8_t* data_ = nullptr;
  const uint8_t* text_ = nullptr;  // of a prefix or suffix
  uint32_t text_size_ = 0;
  uint32_t kind_ = 0;
  uint32_t flags_ = 0;
  Write write_ = nullptr;
  void* target_ = nullptr;
  int32_t held_ = -1;   // a token of which it matters whether it is the last
  uint32_t strip_ = 0;  // blanks at the text's beginning that are left out
  bool begun_ = false;  // there was a token
  bool skip_special_ = false;
  bool broken_ = false;  // the bytes that come are not UTF-8 as a whole
  uint8_t pending_size_ = 0;
  uint8_t pending_[4] = {0, 0, 0, 0};  // the beginning of a character
};

/// The text of ids[0, count) in out[0, capacity), not zero-terminated. *size: its bytes in all, also where they do not fit
/// (kBufferTooSmall; what fits is written). Equal to Hugging Face's `decode` for any ids. O(bytes).
Status decode(const Tokenizer& tokenizer, const int32_t* ids, size_t count, bool skip_special, char* out,
              size_t capacity, size_t* size);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_DECODE_H_
