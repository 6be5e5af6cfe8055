// Tokens for text that is not in the vocabulary: those of its bytes (blob `byte_tokens`), or the unknown token.
#ifndef BANTAM_TEXT_BYTE_TOKENS_H_
#define BANTAM_TEXT_BYTE_TOKENS_H_

#include <stdint.h>

#include "text/blank_trim.h"
#include "text/check.h"
#include "text/tables.h"
#include "text/token_sink.h"

namespace bantam::text {

/// Verifies the blob `byte_tokens` of check.tokenizer, if it exists: 256 tokens.
Status check_byte_tokens(Check& check);

/// Emits the unknown bytes[0, size), located at `where`. If the token of any of these bytes is the unknown token, all
/// of them are unknown. `blanks`: blanks to remove from the offsets of the unknown token.
inline void emit_unknown(const Tables& tables, const uint8_t* bytes, uint32_t size, Offset where,
                         [[maybe_unused]] const EdgeBlanks& blanks, TokenSink* sink) {
  const uint32_t* of_byte = tables.of_byte;
  const auto unknown = static_cast<uint32_t>(tables.unknown_id);
  bool has_tokens = of_byte != nullptr;
  for (uint32_t i = 0; i < size && has_tokens; ++i) has_tokens = of_byte[bytes[i]] != unknown;
  if (!has_tokens) {
    if constexpr (linked::kTrimmedBlanks) {
      if (tables.trim_blanks) trim(tables, blanks, *sink, &where);
    }
    return sink->emit(unknown, where.begin, where.end);
  }
  for (uint32_t i = 0; i < size; ++i) sink->emit(of_byte[bytes[i]], where.begin, where.end);
}

}  // namespace bantam::text

#endif  // BANTAM_TEXT_BYTE_TOKENS_H_
