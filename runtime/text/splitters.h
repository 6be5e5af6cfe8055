// The interface of splitters, the same for all rows of splitters.inc.
#ifndef BANTAM_TEXT_SPLITTERS_H_
#define BANTAM_TEXT_SPLITTERS_H_

#include "language.h"
#include "linked.h"
#include "text/word_encoder.h"
#if BANTAM_IF_LINKED(splitter_pattern)
#include "text/pattern_splitter.h"
#endif
#if BANTAM_IF_LINKED(splitter_metaspace)
#include "text/metaspace_splitter.h"
#endif
#if BANTAM_IF_LINKED(splitter_white)
#include "text/white_splitter.h"
#endif

namespace bantam::text {

#define BANTAM_SPLITTER(KIND, SPLITTER) struct SPLITTER;
#include "text/splitters.inc"
#undef BANTAM_SPLITTER

/// Calls visit(splitter) for the row of `kind`, which the verifier has accepted.
template <typename Visit>
auto with_splitter(fb::SplitterKind kind, [[maybe_unused]] Visit&& visit) -> decltype(visit(BertSplitter())) {
  switch (kind) {
#define BANTAM_SPLITTER(KIND, SPLITTER)                                              \
  case fb::SplitterKind::KIND:                                                       \
    if constexpr (linked::splitter(static_cast<uint32_t>(fb::SplitterKind::KIND))) { \
      return visit(later<SPLITTER, Visit>());                                        \
    }                                                                                \
    break;
#include "text/splitters.inc"
#undef BANTAM_SPLITTER
  }
  __builtin_unreachable();
}

/// Returns true if there is a row for `kind`, which may be any number.
inline bool is_executed(fb::SplitterKind kind) {
  switch (kind) {
#define BANTAM_SPLITTER(KIND, SPLITTER) case fb::SplitterKind::KIND:
#include "text/splitters.inc"
#undef BANTAM_SPLITTER
    return true;
  }
  return false;
}

/// Encodes text[begin, end), which contains no added token that is matched in raw text. O(bytes * longest token) at
/// worst, O(bytes) on real text.
inline void encode_piece(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink) {
  with_splitter(tables.splitter, [&](auto splitter) { splitter.encode_piece(tables, text, begin, end, sink); });
}

}  // namespace bantam::text

#endif  // BANTAM_TEXT_SPLITTERS_H_
