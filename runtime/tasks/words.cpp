#include "tasks/words.h"

#include "text/unicode.h"
#include "text/utf8.h"

namespace bantam::tasks {
namespace {

/// Length of the blank at `at`, 0 when there is something else; `*size` is the code point's length either way.
bool is_blank(Text text, uint32_t at, uint32_t* size) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data) + at;
  const text::CodePoint point = text::decode_utf8(bytes, static_cast<uint32_t>(text.size) - at);
  *size = point.size;
  return (text::character_class(point.code) & text::kSpace) != 0;
}

}  // namespace

Offset next_blank_word(Text text, uint32_t from) {
  const auto end = static_cast<uint32_t>(text.size);
  Offset word{from, from};
  uint32_t size = 0;
  while (word.begin < end && is_blank(text, word.begin, &size)) word.begin += size;
  word.end = word.begin;
  while (word.end < end && !is_blank(text, word.end, &size)) word.end += size;
  return word;
}

bool WordWalk::next(LabelledWord* out) { return blank_words_ ? next_by_blanks(out) : next_by_pieces(out); }

/// The first row from `row` on that holds text of sequence 0; row_count at the end.
uint32_t WordWalk::next_content(uint32_t row) const {
  while (row < encoded_.row_count && encoded_.sequences[row] != 0) ++row;
  return row;
}

bool WordWalk::next_by_blanks(LabelledWord* out) {
  for (;;) {
    const uint32_t row = next_content(row_);
    if (row >= encoded_.row_count || content_ >= last_) return false;
    const uint32_t content = content_++;
    row_ = row + 1;
    const uint32_t begin = encoded_.offsets[row].begin;
    if (content < first_ || begin < word_.end) continue;  // another window's, or a later piece of the last word
    Offset word = word_;
    while (word.end <= begin && word.end < text_.size) word = next_blank_word(text_, word.end);
    word_ = word;
    if (word.end <= begin) return false;  // beyond the text: not a token of it
    *out = {word, row};
    return true;
  }
}

/// Does the token go on with the word before it ("##ing")?
bool WordWalk::continues(uint32_t row) const {
  bool continues = false;
  tokenizer_.piece(static_cast<uint32_t>(encoded_.ids[row]), &continues);
  return continues;
}

bool WordWalk::next_by_pieces(LabelledWord* out) {
  for (;;) {
    const uint32_t row = next_content(row_);
    if (row >= encoded_.row_count || content_ >= last_) return false;
    const uint32_t content = content_++;
    row_ = row + 1;
    if (content < first_ || continues(row) || encoded_.offsets[row].begin < word_.end) continue;
    word_ = encoded_.offsets[row];
    for (uint32_t more = next_content(row_); more < encoded_.row_count && continues(more);
         more = next_content(more + 1)) {
      word_.end = encoded_.offsets[more].end;
    }
    *out = {word_, row};
    return true;
  }
}

}  // namespace bantam::tasks
