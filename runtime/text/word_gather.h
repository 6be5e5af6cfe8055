// Encodes a word that is not in the text in this form, for the models that patterns support.
#ifndef BANTAM_TEXT_WORD_GATHER_H_
#define BANTAM_TEXT_WORD_GATHER_H_

#include "linked.h"
#include "text/tables.h"
#include "text/token_sink.h"
#if BANTAM_IF_LINKED(token_model_bpe)
#include "text/bpe_gather.h"
#endif
#if BANTAM_IF_LINKED(token_model_wordpiece)
#include "text/word_encoder.h"
#endif

namespace bantam::text {

/// Returns true if words can be read in place.
inline bool reads_in_place([[maybe_unused]] const Tables& tables) {
  if constexpr (!linked::token_model(static_cast<uint32_t>(fb::TokenModelKind::bpe))) return false;
  return tables.model == fb::TokenModelKind::bpe;
}

/// Encodes a word of the code points that `next(&c)` returns until it is false.
template <typename Next>
void gather_word(const Tables& tables, TokenSink* sink, Next&& next) {
#if BANTAM_IF_LINKED(token_model_bpe)
  if (reads_in_place(tables)) return BpeGather(tables, sink).encode(next);
#endif
#if BANTAM_IF_LINKED(token_model_wordpiece)
  Word<Choose<linked::kOffsets, CharRanges, NoRanges>> word(tables, {tables.rules, sink->text, 0, 0}, sink);
  for (NormalChar c = {0, 0, 0}; next(&c);) word.append(c);
  word.flush();
#endif
}

}  // namespace bantam::text

#endif  // BANTAM_TEXT_WORD_GATHER_H_
