// What is asked of a tokenizer model, whichever row of models.inc it is.
#ifndef BANTAM_TEXT_MODELS_H_
#define BANTAM_TEXT_MODELS_H_

#include "linked.h"
#include "text/bpe.h"
#include "text/hashed.h"
#include "text/unigram.h"
#include "text/wordpiece.h"

namespace bantam::text {

/// visit(model) for the row of `kind`, which is one that the verifier accepted.
template <typename Visit>
auto with_model(fb::TokenModelKind kind, [[maybe_unused]] Visit&& visit) -> decltype(visit(WordPiece())) {
  switch (kind) {
#define BANTAM_TOKEN_MODEL(KIND, MODEL)                                                   \
  case fb::TokenModelKind::KIND:                                                          \
    if constexpr (linked::token_model(static_cast<uint32_t>(fb::TokenModelKind::KIND))) { \
      return visit(MODEL());                                                              \
    }                                                                                     \
    break;
#include "text/models.inc"
#undef BANTAM_TOKEN_MODEL
  }
  __builtin_unreachable();
}

/// Whether there is a row for `kind`, which may be any number.
inline bool is_executed(fb::TokenModelKind kind) {
  switch (kind) {
#define BANTAM_TOKEN_MODEL(KIND, MODEL) case fb::TokenModelKind::KIND:
#include "text/models.inc"
#undef BANTAM_TOKEN_MODEL
    return true;
  }
  return false;
}

/// The word bytes[0, size) to tokens; bytes[size] is 0. `locate(at, size)` gives the offsets of the part bytes[at, at + size).
/// False, and nothing emitted, for a word that is the unknown token.
template <typename Locate>
bool encode_word(const Tables& tables, const uint8_t* bytes, uint32_t size, Locate&& locate, TokenSink* sink) {
  return with_model(tables.model, [&](auto model) { return model.encode_word(tables, bytes, size, locate, sink); });
}

}  // namespace bantam::text

#endif  // BANTAM_TEXT_MODELS_H_
