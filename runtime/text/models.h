// The interface of tokenizer models, the same for all rows of models.inc.
#ifndef BANTAM_TEXT_MODELS_H_
#define BANTAM_TEXT_MODELS_H_

#include "language.h"
#include "linked.h"
#include "text/wordpiece.h"
#if BANTAM_IF_LINKED(token_model_bpe)
#include "text/bpe.h"
#endif
#if BANTAM_IF_LINKED(token_model_unigram)
#include "text/unigram.h"
#endif
#if BANTAM_IF_LINKED(token_model_hashed)
#include "text/hashed.h"
#endif

namespace bantam::text {

#define BANTAM_TOKEN_MODEL(KIND, MODEL) struct MODEL;
#include "text/models.inc"
#undef BANTAM_TOKEN_MODEL

/// Calls visit(model) for the row of `kind`, which the verifier has accepted.
template <typename Visit>
auto with_model(fb::TokenModelKind kind, [[maybe_unused]] Visit&& visit) -> decltype(visit(WordPiece())) {
  switch (kind) {
#define BANTAM_TOKEN_MODEL(KIND, MODEL)                                                   \
  case fb::TokenModelKind::KIND:                                                          \
    if constexpr (linked::token_model(static_cast<uint32_t>(fb::TokenModelKind::KIND))) { \
      return visit(later<MODEL, Visit>());                                                \
    }                                                                                     \
    break;
#include "text/models.inc"
#undef BANTAM_TOKEN_MODEL
  }
  __builtin_unreachable();
}

/// Returns true if there is a row for `kind`, which may be any number.
inline bool is_executed(fb::TokenModelKind kind) {
  switch (kind) {
#define BANTAM_TOKEN_MODEL(KIND, MODEL) case fb::TokenModelKind::KIND:
#include "text/models.inc"
#undef BANTAM_TOKEN_MODEL
    return true;
  }
  return false;
}

}  // namespace bantam::text

#endif  // BANTAM_TEXT_MODELS_H_
