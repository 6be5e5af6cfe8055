// Tokenizer: text to ids, in place, without heap, ids and offsets equal to Hugging Face tokenizers'.
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
  /// Most tokens, specials included; 0: Tokenizer::max_tokens(). Never more than the buffer's capacity, nor, in a session,
  /// than its model has positions for.
  uint32_t max_tokens = 0;
  bool add_special = true;
  TruncationSide truncation = TruncationSide::kFromFile;
  /// Sliding windows: leave out the first `skip` content tokens of the windowed sequence (the second of
  /// a pair, else the first). Tokens before and after the window are counted as `truncated`.
  uint32_t skip = 0;
};

struct EncodeResult {
  uint32_t count = 0;            // tokens written
  bool truncated = false;        // some content tokens did not fit
  uint32_t content[2] = {0, 0};  // content tokens of each sequence in full, before truncation
  uint32_t kept[2] = {0, 0};     // content tokens of each sequence written
};

/// A text's own tokens, all of them, as Tokenizer::encode gives them without special tokens. The arrays are the caller's.
struct TextTokens {
  const int32_t* ids = nullptr;
  const Offset* offsets = nullptr;  // null only where offsets are not kept
  uint32_t count = 0;
};

/// Copyable view over a model's tokenizer tables.
class Tokenizer {
 public:
  /// kNoTokenizer when the file has none (or not so many).
  static Status open(const Model& model, uint32_t index, Tokenizer* out);

  /// Encodes `first`, and `second` if its data is not null, as the file's template says. Never fails on
  /// any bytes: each maximal invalid UTF-8 subsequence acts as U+FFFD. O(bytes). kBufferTooSmall when
  /// truncation is kNone and the tokens do not fit (result->content still counts them).
  Status encode(Text first, Text second, const EncodeOptions& options, const TokenBuffer& out,
                EncodeResult* result) const;

  uint32_t vocab_size() const;
  /// The token's text in the vocabulary (with "##" for continuations); empty when out of range.
  Text token(uint32_t id) const;
  /// Returns the token as it stands in a text: without the mark of a continuation. Sets *continues (which may be null)
  /// to true if the token continues the word of the token before it ("##ing").
  Text piece(uint32_t id, bool* continues = nullptr) const;
  /// Returns the prefix of tokens that continue a word ("##"); empty where tokens have no such mark.
  Text continuing_prefix() const;
  /// Id of exactly this vocabulary entry or added token, -1 if there is none. O(log n) or better.
  int32_t id(Text token) const;
  bool is_special(uint32_t id) const;
  int32_t unknown_id() const;
  int32_t mask_id() const;
  int32_t cls_id() const;
  int32_t sep_id() const;
  int32_t pad_id() const;
  /// Special tokens that the template adds to one text / to a pair.
  uint32_t special_count(bool pair) const;
  /// Tokens, specials included, that texts are cut to unless EncodeOptions say otherwise; 0: no limit. It may be smaller
  /// than the model's max_sequence: sentence-transformers models state their own.
  uint32_t max_tokens() const;

 private:
  friend struct TokenizerAccess;   // runtime/text/tables.cpp
  const void* table_ = nullptr;    // fb::Tokenizer
  const uint8_t* data_ = nullptr;  // the file's data section
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_TOKENIZER_H_
