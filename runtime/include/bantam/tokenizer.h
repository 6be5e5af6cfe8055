// Tokenizer: text to ids, without heap; ids and offsets equal those of Hugging Face's tokenizers.
#ifndef BANTAM_TOKENIZER_H_
#define BANTAM_TOKENIZER_H_

#include "bantam/export.h"
#include "bantam/model.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Half-open UTF-8 byte range in the original text of `sequence` (0 or 1). Special tokens: [0, 0).
struct Offset {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// Caller-owned arrays, each of `capacity` elements. `segments`, `offsets`, `sequences` may be null.
struct TokenBuffer {
  int32_t* ids = nullptr;
  int32_t* segments = nullptr;
  Offset* offsets = nullptr;
  uint8_t* sequences = nullptr;  // 0, 1: text of that sequence; 255: special token of the template
  uint32_t capacity = 0;
};

enum class TruncationSide : uint8_t { kFromFile = 0, kLongestFirst, kOnlyFirst, kOnlySecond, kNone };

struct EncodeOptions {
  /// The most tokens, specials included; 0: Tokenizer::max_tokens(). The buffer's capacity is also a limit and, in a
  /// session, the number of the model's positions.
  uint32_t max_tokens = 0;
  bool add_special = true;
  TruncationSide truncation = TruncationSide::kFromFile;
  /// Sliding windows: skips the first `skip` content tokens of the windowed sequence (the second of
  /// a pair, else the first). Tokens before and after the window are counted as `truncated`.
  uint32_t skip = 0;
};

struct EncodeResult {
  uint32_t count = 0;            // tokens written
  bool truncated = false;        // some content tokens did not fit
  uint32_t content[2] = {0, 0};  // content tokens of each sequence in full, before truncation
  uint32_t kept[2] = {0, 0};     // content tokens of each sequence written
};

/// All tokens of a text, as Tokenizer::encode returns them without special tokens. The caller owns the arrays.
struct TextTokens {
  const int32_t* ids = nullptr;
  const Offset* offsets = nullptr;  // null only if offsets are not kept
  uint32_t count = 0;
};

/// Copyable view over a model's tokenizer tables.
class Tokenizer {
 public:
  /// kNoTokenizer: the file has none with this index.
  static Status open(const Model& model, uint32_t index, Tokenizer* out);

  /// Encodes `first`, and `second` if its data is not null, with the file's template. Accepts any bytes: each maximal
  /// invalid UTF-8 subsequence acts as U+FFFD. O(bytes). kBufferTooSmall if truncation is kNone and the tokens do not
  /// fit (result->content still counts them).
  Status encode(Text first, Text second, const EncodeOptions& options, const TokenBuffer& out,
                EncodeResult* result) const;

  uint32_t vocab_size() const;
  /// The token's text in the vocabulary (with "##" for continuations); empty when out of range.
  Text token(uint32_t id) const;
  /// Returns the token as it appears in a text: without the prefix of a continuation. Sets *continues (may be null) to
  /// true if the token continues the word of the token before it ("##ing").
  Text piece(uint32_t id, bool* continues = nullptr) const;
  /// Returns the prefix of tokens that continue a word ("##"); empty if the vocabulary has no such prefix.
  Text continuing_prefix() const;
  /// Id of exactly this vocabulary entry or added token; -1: none. O(log n) or better.
  int32_t id(Text token) const;
  bool is_special(uint32_t id) const;
  int32_t unknown_id() const;
  int32_t mask_id() const;
  int32_t cls_id() const;
  int32_t sep_id() const;
  int32_t pad_id() const;
  /// Special tokens that the template adds to one text / to a pair.
  uint32_t special_count(bool pair) const;
  /// The number of tokens, specials included, to which texts are truncated unless EncodeOptions set a limit; 0: no
  /// limit. It may be smaller than the model's max_sequence: sentence-transformers models state their own.
  uint32_t max_tokens() const;

 private:
  friend struct TokenizerAccess;   // runtime/text/tables.cpp
  const void* table_ = nullptr;    // fb::Tokenizer
  const uint8_t* data_ = nullptr;  // the file's data section
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_TOKENIZER_H_
