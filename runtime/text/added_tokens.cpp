#include "text/added_tokens.h"

#include <string.h>

#include "linked.h"
#include "text/utf8.h"

namespace bantam::text {
namespace {

enum Kind : uint32_t { kRaw = 0, kNormalized = 1 };

bool may_start(const LexiconRoots& roots, Kind kind, uint32_t byte) {
  return (roots.first[kind][byte / 32] >> (byte % 32) & 1) != 0;
}

/// First position from `at` on where a token matched in raw text may begin, or `size`.
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

/// The code point that ends at text[at), at > 0; U+FFFD, one byte, if none does.
CodePoint code_before(const uint8_t* text, uint32_t at) {
  for (uint32_t size = 1; size <= 4 && size <= at; ++size) {
    if ((text[at - size] & 0xC0) == 0x80) continue;
    const CodePoint c = decode_utf8(text + at - size, size);
    if (c.size == size) return c;
    break;
  }
  return {kReplacement, 1};
}

bool touches_word(const uint8_t* text, uint32_t size, uint32_t begin, uint32_t end) {
  return (begin > 0 && is_word_character(code_before(text, begin).code)) ||
         (end < size && is_word_character(decode_utf8(text + end, size - end).code));
}

/// A match in the normalised text.
struct NormalMatch {
  uint32_t index = 0;
  uint32_t chars = 0;  // 0: none
  uint32_t end = 0;    // bytes of the text
  uint32_t last = 0;   // its last code point
  NormalStream after;
};

/// The blanks behind a token that strips them. Tokens that are blanks themselves lie within those of the one before, which
/// are not passed again.
struct PassedBlanks {
  uint32_t until = 0;       // normalised code points
  uint32_t end = 0;         // bytes: of the last of them, or of the token
  bool more = false;        // whether a code point follows
  uint32_t next_begin = 0;  // its bytes
};

NormalMatch longest_normalized(const Lexicon& lexicon, const NormalStream& here) {
  NormalMatch best = {0, 0, 0, 0, here};
  NormalStream stream = here;
  uint32_t base = lexicon.roots->added[kNormalized];
  uint32_t left = lexicon.roots->longest[kNormalized];
  NormalChar c;
  for (uint32_t chars = 1; left > 0 && stream.next(&c); ++chars) {
    uint8_t bytes[4];
    const uint32_t size = encode_utf8(c.code, bytes);
    if (size > left) break;
    left -= size;
    bool accepts = false;
    for (uint32_t i = 0; i < size; ++i) {
      if (!lexicon.step(&base, &accepts, bytes[i])) return best;
    }
    if (accepts) best = {lexicon.value(base), chars, c.end, c.code, stream};
  }
  return best;
}

}  // namespace

/// Where the blanks before text[at) begin, floor_ at the least.
uint32_t AddedSearch::blanks_begin(uint32_t at) const {
  while (at > floor_) {
    const CodePoint c = code_before(text_, at);
    if ((character_class(c.code) & kSpace) == 0) break;
    at -= c.size;
  }
  return at > floor_ ? at : floor_;
}

/// Where the blanks from text[at) on end. Tokens that are blanks themselves ask within the blanks of the one before, so
/// what was passed once is not passed again.
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
    at = end;  // blanks that all belong to the token before
  }
  return false;
}

void encode_with_added(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink) {
  const Lexicon& lexicon = tables.lexicon;
  NormalStream stream(tables.rules, text, begin, end);
  WordBuffer word(tables, stream, sink);
  uint32_t index = 0;        // of the next normalised code point
  uint32_t quiet_until = 0;  // within a match that was discarded
  uint32_t floor = 0;        // end of the previous token, blanks included
  uint32_t floor_begin = 0;  // bytes: where the code point number `floor` begins
  PassedBlanks passed;
  uint32_t previous = ' ';
  bool after_blanks = false;
  uint32_t blanks_begin = 0;
  while (!sink->is_full()) {
    const NormalStream here = stream;
    word.mark(here);
    NormalChar c;
    if (!stream.next(&c)) break;
    uint8_t bytes[4];
    encode_utf8(c.code, bytes);
    if (index >= quiet_until && may_start(*lexicon.roots, kNormalized, bytes[0])) {
      const NormalMatch match = longest_normalized(lexicon, here);
      if (match.chars != 0 && match.index < tables.added->size()) {
        const fb::AddedToken& token = *tables.added->Get(match.index);
        NormalStream ahead = match.after;
        NormalChar next = {0, 0, 0};
        bool more = ahead.next(&next);
        quiet_until = index + match.chars;
        if (!token.single_word() || !(is_word_character(previous) || (more && is_word_character(next.code)))) {
          word.flush();
          const uint32_t last_floor = floor;
          uint32_t token_end = match.end;
          floor = quiet_until;
          if (token.rstrip()) {
            if (floor >= passed.until) {
              for (; more && (character_class(next.code) & kSpace) != 0; more = ahead.next(&next)) {
                token_end = next.end;
                ++floor;
              }
              passed = {floor, token_end, more, next.begin};
            }
            floor = passed.until;
            token_end = passed.end;
            more = passed.more;
            next.begin = passed.next_begin;
          }
          uint32_t token_begin = c.begin;
          if (token.lstrip() && after_blanks) token_begin = blanks_begin;
          if (token.lstrip() && index < last_floor) token_begin = floor_begin;
          floor_begin = more ? next.begin : token_end;
          // Blanks that all belong to the token before are none of this one's.
          if (token_begin < token_end) sink->emit(token.id(), token_begin, token_end);
          stream = match.after;
          index = quiet_until;
          previous = match.last;
          after_blanks = false;
          continue;
        }
      }
    }
    const uint32_t properties = character_class(c.code);
    if ((properties & kSpace) == 0) {
      after_blanks = false;
    } else if (!after_blanks && index >= floor) {
      after_blanks = true;
      blanks_begin = c.begin;
    }
    previous = c.code;
    word.feed(c, properties);
    ++index;
  }
  word.flush();
}

}  // namespace bantam::text
