// How tokens become text: blob `decoder` of a tokenizer, if its rules differ from the usual ones of its model.
//
//   u32 version, 1
//   u32 kind      DecodeKind
//   u32 flags     DecodeFlags
//   u32 strip     blanks to strip at the beginning of the text
//   u32 size      bytes of the text that follows, at most 64: wordpiece's prefix, the suffix, or the replacement of an
//                 end mark
#ifndef BANTAM_TEXT_DECODE_RULES_H_
#define BANTAM_TEXT_DECODE_RULES_H_

#include <stdint.h>

#include "text/check.h"

namespace bantam::text {

constexpr uint32_t kDecoderVersion = 1;
constexpr uint32_t kMaxDecoderText = 64;

enum DecodeKind : uint32_t {
  kDecodeJoin = 0,       // a blank between tokens
  kDecodeBytes = 1,      // tokens are bytes; so are added ones whose characters all represent bytes
  kDecodeWordPiece = 2,  // a blank before each token without the prefix, except the first
  kDecodeSuffix = 3,     // the suffix becomes a blank; in the last token it is dropped
  kDecodePieces = 4,     // tokens are concatenated
  kDecodeNot = 5,        // in an unknown way
  kDecodeKinds
};

enum DecodeFlags : uint32_t {
  kDecodeCleans = 1,        // wordpiece: no blank before punctuation and English contractions
  kDecodeMarks = 2,         // pieces: U+2581 is a blank
  kDecodeDropsFirst = 4,    // pieces: those of the first token are dropped
  kDecodeByteFallback = 8,  // pieces: <0x00> to <0xFF> are bytes
  kDecodeEndMarks = 16,     // bytes, suffix: the mark at a token's end is replaced by the text
  kDecodeFlagsEnd = 32
};

struct DecodeRules {
  uint32_t version;
  uint32_t kind;
  uint32_t flags;
  uint32_t strip;
  uint32_t size;
};

/// Returns the rules of a tokenizer without the blob; those of WordPiece have the model's prefix as their text.
inline DecodeRules usual_rules(fb::TokenModelKind kind, bool code_points) {
  if (kind == fb::TokenModelKind::wordpiece) return {kDecoderVersion, kDecodeWordPiece, kDecodeCleans, 0, 0};
  if (kind == fb::TokenModelKind::unigram) {
    return {kDecoderVersion, kDecodePieces, kDecodeMarks | kDecodeDropsFirst, 0, 0};
  }
  if (code_points) return {kDecoderVersion, kDecodePieces, kDecodeMarks | kDecodeByteFallback, 1, 0};
  return {kDecoderVersion, kDecodeBytes, 0, 0, 0};
}

/// Verifies the blob `decoder` of check.tokenizer, if it exists.
Status check_decoder(Check& check);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_DECODE_RULES_H_
