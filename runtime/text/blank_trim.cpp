#include "text/blank_trim.h"

#include "text/utf8.h"

namespace bantam::text {
bool is_trimmed(uint32_t code) { return code == 0x120 || (character_class(code) & kSpace) != 0; }

void trim_blanks(const Tables& tables, const uint8_t* text, uint32_t leading, uint32_t trailing, const TokenSink& sink,
                 Offset* where) {
  if (leading > 0) {
    // The first blank of a text may be the one that prefix_blank put there; two are the text's own.
    if (leading == 1 && tables.trim_prefix && (sink.count == sink.first || where->begin == 0)) leading = 0;
    for (; leading > 0 && where->begin < where->end; --leading) {
      do {
        ++where->begin;
      } while (where->begin < where->end && goes_on_code(text[where->begin]));
    }
  }
  uint32_t end = where->end;
  for (; trailing > 0 && end > 0; --trailing) {
    do {
      --end;
    } while (end > 0 && goes_on_code(text[end]));
  }
  if (trailing == 0) where->end = end < where->begin ? where->begin : end;
}

void trim_added(const Tables& tables, const uint8_t* text, const TokenSink& sink, Offset* where) {
  uint32_t leading = 0;
  uint32_t trailing = 0;
  bool only_blanks = true;
  for (uint32_t at = where->begin; at < where->end;) {
    const CodePoint c = decode_utf8(text + at, where->end - at);
    at += c.size;
    trailing = is_trimmed(c.code) ? trailing + 1 : 0;
    only_blanks = only_blanks && trailing > 0;
    if (only_blanks) ++leading;
  }
  if (leading + trailing > 0) trim_blanks(tables, text, leading, trailing, sink, where);
}

}  // namespace bantam::text
