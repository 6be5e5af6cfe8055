#include "text/blank_trim.h"

#include "text/utf8.h"

namespace bantam::text {
#if BANTAM_IF_LINKED(TrimmedBlanks)
bool is_trimmed(uint32_t code) { return code == 0x120 || (character_class(code) & kSpace) != 0; }

void EdgeBlanks::add_token(const Tables& tables, const uint8_t* bytes, uint32_t size) {
  const bool bpe = tables.model == fb::TokenModelKind::bpe;
  const uint32_t traits = linked::kBpeTraits && bpe ? tables.traits : 0;
  if (bpe && (traits & kCodePoints) == 0) {  // tokens are bytes, and only the letter for a blank counts as blank
    for (uint32_t i = 0; i < size; ++i) add(bytes[i] == ' ');
    return;
  }
  // Marks are neither UTF-8 nor blanks. Without a mark for beginnings, tokens have a prefix instead.
  uint32_t at = 0;
  if ((traits & kBeginMarks) != 0) {
    only = size > 0 && bytes[0] == kBeginMark;
    at = only ? 1 : 0;
  }
  while (at < size) {
    const CodePoint c = decode_utf8(bytes + at, size - at);
    at += c.size;
    add(is_trimmed(c.code) && (c.code != ' ' || tables.splitter != fb::SplitterKind::metaspace));
  }
}

void trim(const Tables& tables, const EdgeBlanks& blanks, const TokenSink& sink, Offset* where) {
  uint64_t leading = blanks.leading;
  // A single leading blank of a text may be the one that prefix_blank added; two are the text's own.
  if (leading == 1 && tables.trim_prefix && (sink.count == sink.first || where->begin == 0)) leading = 0;
  for (; leading > 0 && where->begin < where->end; --leading) {
    do {
      ++where->begin;
    } while (where->begin < where->end && goes_on_code(sink.text[where->begin]));
  }
  uint32_t end = where->end;
  uint64_t trailing = blanks.trailing;
  for (; trailing > 0 && end > 0; --trailing) {
    do {
      --end;
    } while (end > 0 && goes_on_code(sink.text[end]));
  }
  if (trailing == 0) where->end = end < where->begin ? where->begin : end;
}

void trim_added(const Tables& tables, const TokenSink& sink, Offset* where) {
  EdgeBlanks blanks;
  for (uint32_t at = where->begin; at < where->end;) {
    const CodePoint c = decode_utf8(sink.text + at, where->end - at);
    at += c.size;
    blanks.add(is_trimmed(c.code));
  }
  trim(tables, blanks, sink, where);
}
#endif

}  // namespace bantam::text
