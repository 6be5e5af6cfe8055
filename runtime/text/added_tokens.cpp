#include "text/added_tokens.h"

#include <string.h>

#include "linked.h"
#include "text/utf8.h"

namespace bantam::text {
namespace {

/// Returns the first position from `at` on where a token matched in raw text may begin; `size` if there is none.
uint32_t next_candidate(const LexiconRoots& roots, const uint8_t* text, uint32_t at, uint32_t size) {
  if (at >= size) return size;
  if (roots.only_first[kRaw] < 256) {
    const void* found = memchr(text + at, static_cast<int>(roots.only_first[kRaw]), size - at);
    return found == nullptr ? size : static_cast<uint32_t>(static_cast<const uint8_t*>(found) - text);
  }
  while (at < size && !may_start(roots, kRaw, text[at])) ++at;
  return at;
}

Match longest_added(const Lexicon& lexicon, const uint8_t* text, uint32_t at, uint32_t size) {
  Match best = {0, 0};
  uint32_t base = lexicon.roots->added[kRaw];
  bool accepts = false;
  const uint32_t longest = lexicon.roots->longest[kRaw];
  const uint32_t end = size - at < longest ? size : at + longest;
  for (uint32_t i = at; i < end && lexicon.step(&base, &accepts, text[i]); ++i) {
    if (accepts) best = {lexicon.value(base), i + 1 - at};
  }
  return best;
}

/// Returns the code point that ends at text[at), at > 0; U+FFFD of one byte if none does.
CodePoint code_before(const uint8_t* text, uint32_t at) {
  for (uint32_t size = 1; size <= 4 && size <= at; ++size) {
    if ((text[at - size] & 0xC0) == 0x80) continue;
    const CodePoint c = decode_utf8(text + at - size, size);
    if (c.size == size) return c;
    break;
  }
  return {kReplacement, 1};
}

bool touches_word([[maybe_unused]] const uint8_t* text, [[maybe_unused]] uint32_t size, [[maybe_unused]] uint32_t begin,
                  [[maybe_unused]] uint32_t end) {
  if constexpr (linked::kTokenEdges) {
    return (begin > 0 && is_word_character(code_before(text, begin).code)) ||
           (end < size && is_word_character(decode_utf8(text + end, size - end).code));
  }
  return false;
}

}  // namespace

/// Returns the beginning of the blanks before text[at), at least floor_.
uint32_t AddedSearch::blanks_begin(uint32_t at) const {
  while (at > floor_) {
    const CodePoint c = code_before(text_, at);
    if ((character_class(c.code) & kSpace) == 0) break;
    at -= c.size;
  }
  return at > floor_ ? at : floor_;
}

/// Returns the end of the blanks that begin at text[at). Tokens that are blanks themselves lie within the blanks of the
/// preceding token, so these are not scanned again.
uint32_t AddedSearch::blanks_end(uint32_t at) {
  if (at < blanks_end_) return blanks_end_;
  while (at < size_) {
    const CodePoint c = decode_utf8(text_ + at, size_ - at);
    if ((character_class(c.code) & kSpace) == 0) break;
    at += c.size;
  }
  return blanks_end_ = at;
}

bool AddedSearch::next(AddedMatch* out) {
  const LexiconRoots& roots = *tables_.lexicon.roots;
  if (roots.longest[kRaw] == 0) return false;
  for (uint32_t at = at_; (at = next_candidate(roots, text_, at, size_)) < size_;) {
    const Match match = longest_added(tables_.lexicon, text_, at, size_);
    if (match.size == 0 || match.value >= tables_.added->size()) {
      ++at;
      continue;
    }
    const fb::AddedToken& token = *tables_.added->Get(match.value);
    const uint32_t end = at + match.size;
    if (linked::kTokenEdges && token.single_word() && touches_word(text_, size_, at, end)) {
      at = end;
      continue;
    }
    *out = {&token, at, end};
    if constexpr (linked::kTokenEdges) {
      if (token.lstrip()) out->begin = blanks_begin(at);
      if (token.rstrip()) out->end = blanks_end(end);
    }
    at_ = end;
    floor_ = out->end;
    if (out->begin < out->end) return true;
    at = end;  // the preceding token has already taken all of these blanks
  }
  return false;
}

}  // namespace bantam::text
