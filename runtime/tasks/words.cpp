#include "tasks/words.h"

#include "linked.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"

namespace bantam::tasks {
namespace {

text::CodePoint code_at(Text text, uint32_t at) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data) + at;
  return text::decode_utf8(bytes, static_cast<uint32_t>(text.size) - at);
}

bool is_blank(uint32_t code) { return (text::character_class(code) & text::kSpace) != 0; }

bool is_word_by_itself(uint32_t code) {
  return (text::character_class(code) & text::kPunctuation) != 0 || text::is_chinese(code);
}

/// Returns true for brackets, quotes and sentence punctuation, but not for ASCII symbols, with which values may begin
/// or end.
bool is_mark(uint32_t code) {
  if (code < 0x80) {
    for (const char* symbol = "#$%&*+/<=>@\\^_`|~"; *symbol != 0; ++symbol) {
      if (static_cast<uint32_t>(*symbol) == code) return false;
    }
  }
  return (text::character_class(code) & text::kPunctuation) != 0;
}

/// Returns true if the span consists only of marks and touches a word.
bool are_marks(Text text, Offset span) {
  for (uint32_t at = span.begin; at < span.end;) {
    const text::CodePoint point = code_at(text, at);
    if (!is_mark(point.code)) return false;
    at += point.size;
  }
  if (span.end < text.size && !is_blank(code_at(text, span.end).code)) return true;
  uint32_t before = span.begin;
  while (before > 0 && (text.data[--before] & 0xC0) == 0x80) {
  }
  return span.begin > 0 && !is_blank(code_at(text, before).code);
}

#if BANTAM_IF_LINKED(Strategies)
uint32_t code_points(Text text) {
  uint32_t count = 0;
  for (uint32_t at = 0; at < text.size; at += code_at(text, at).size) ++count;
  return count;
}
#endif  // BANTAM_IF_LINKED(Strategies)

}  // namespace

Offset next_word(Text text, uint32_t from, bool blank_words) {
  const auto end = static_cast<uint32_t>(text.size);
  Offset word{from, from};
  while (word.begin < end) {
    const text::CodePoint point = code_at(text, word.begin);
    word.end = word.begin + point.size;
    if (!is_blank(point.code)) {
      if (!blank_words && is_word_by_itself(point.code)) return word;
      break;
    }
    word.begin = word.end;
  }
  while (word.end < end) {
    const text::CodePoint point = code_at(text, word.end);
    if (is_blank(point.code) || (!blank_words && is_word_by_itself(point.code))) break;
    word.end += point.size;
  }
  return word;
}

WordWalk::WordWalk(const EncodedSequence& encoded, const Tokenizer& tokenizer, Text text, Aggregation aggregation,
                   bool blank_words)
    : encoded_(encoded),
      tokenizer_(tokenizer),
      text_(text),
      prefix_(tokenizer.continuing_prefix()),
      aggregation_(aggregation),
      blank_words_(blank_words) {}

bool WordWalk::next(LabelledWord* out) {
#if BANTAM_IF_LINKED(Strategies)
  if (aggregation_ != Aggregation::kWords) return next_of_tokens(out);
#endif  // BANTAM_IF_LINKED(Strategies)
  return next_of_text(out);
}

/// Returns the first row from `row` on that holds text of sequence 0; row_count if there is none.
uint32_t WordWalk::next_content(uint32_t row) const {
  while (row < encoded_.row_count && encoded_.sequences[row] != 0) ++row;
  return row;
}

bool WordWalk::next_of_text(LabelledWord* out) {
  for (;;) {
    const uint32_t row = next_content(row_);
    if (row >= encoded_.row_count || content_ >= last_) return false;
    const uint32_t content = content_++;
    row_ = row + 1;
    const uint32_t begin = encoded_.offsets[row].begin;
    // decided by another window, or a later piece of the last word
    if (content < first_ || begin < word_.end) continue;
    Offset word = word_;
    while (word.end <= begin && word.end < text_.size) word = next_word(text_, word.end, blank_words_);
    word_ = word;
    if (word.end <= begin) return false;  // outside the text: the token does not belong to it
    // A token may span several words (")?", or CJK words of several characters): they form one word.
    if (!blank_words_) {
      for (uint32_t piece = row; piece < encoded_.row_count && encoded_.offsets[piece].begin < word_.end;
           piece = next_content(piece + 1)) {
        if (encoded_.offsets[piece].end > word_.end) word_.end = encoded_.offsets[piece].end;
      }
    }
    *out = {word_, row, row + 1, !blank_words_ && are_marks(text_, word_)};
    return true;
  }
}

#if BANTAM_IF_LINKED(Strategies)
/// Returns true if the token continues the word of the token before it, by transformers' rule: by the length of its
/// name if the vocabulary marks such tokens, else by a blank at its beginning or before it.
bool WordWalk::continues(uint32_t row) const {
  const auto id = static_cast<uint32_t>(encoded_.ids[row]);
  if (encoded_.ids[row] == tokenizer_.unknown_id()) return false;
  const Offset bytes = encoded_.offsets[row];
  if (prefix_.size > 0) {
    return code_points(tokenizer_.token(id)) != code_points({text_.data + bytes.begin, bytes.end - bytes.begin});
  }
  if (bytes.begin == 0 || text_.data[bytes.begin - 1] == ' ') return false;
  return bytes.begin >= text_.size || text_.data[bytes.begin] != ' ';
}

bool WordWalk::next_of_tokens(LabelledWord* out) {
  const bool alone = aggregation_ == Aggregation::kNone || aggregation_ == Aggregation::kSimple;
  for (;;) {
    const uint32_t row = next_content(row_);
    if (row >= encoded_.row_count || content_ >= last_) return false;
    const uint32_t content = content_++;
    row_ = row + 1;
    const bool text_begins = content == 0 && text_begins_;
    if (encoded_.offsets[row].end > text_.size) return false;  // the token does not belong to this text
    if (content < first_ || (!alone && !text_begins && continues(row))) continue;
    word_ = encoded_.offsets[row];
    while (!alone) {
      const uint32_t more = next_content(row_);
      if (more >= encoded_.row_count || encoded_.offsets[more].end > text_.size || !continues(more)) break;
      word_.end = encoded_.offsets[more].end;
      row_ = more + 1;
      ++content_;
    }
    *out = {word_, row, row_, false};
    return true;
  }
}
#endif  // BANTAM_IF_LINKED(Strategies)

}  // namespace bantam::tasks
