#include "text/word_encoder.h"

#include "text/added_tokens.h"
#include "text/utf8.h"

namespace bantam::text {
namespace {

// What a byte means to the fast path: a word character (then its normalised self), or one of these.
constexpr uint8_t kByteSpace = 0x80;
constexpr uint8_t kBytePunctuation = 0x81;
constexpr uint8_t kByteOther = 0x82;  // not ASCII, or a control character: decided by the slow path

struct ByteTable {
  uint8_t of[256];
};

constexpr ByteTable make_byte_table(bool lowercase) {
  ByteTable table = {};
  for (uint32_t c = 0; c < 256; ++c) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    uint32_t value = kByteOther;
    if (word) {
      value = upper && lowercase ? c + 32 : c;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      value = kByteSpace;
    } else if (c > 32 && c < 127) {
      value = kBytePunctuation;
    }
    table.of[c] = static_cast<uint8_t>(value);
  }
  return table;
}

constexpr ByteTable kBytes[2] = {make_byte_table(false), make_byte_table(true)};

/// Greedy longest match from the left; false, and nothing emitted, when some part of the word is not in the
/// vocabulary. bytes[size] is 0. `locate(at, size)` gives the offsets of the piece bytes[at, at + size).
template <typename Locate>
bool emit_pieces(const Lexicon& lexicon, const uint8_t* bytes, uint32_t size, Locate&& locate, TokenSink* sink) {
  const uint32_t mark = sink->count;
  Match match = lexicon.longest(lexicon.roots->vocabulary, 0, bytes, size);
  uint32_t at = 0;
  while (match.size != 0) {
    const Offset where = locate(at, match.size);
    sink->emit(match.value, where.begin, where.end);
    at += match.size;
    if (at >= size) return true;
    match = lexicon.longest(lexicon.roots->continuation, lexicon.roots->prefix_size, bytes + at, size - at);
  }
  sink->count = mark;
  return false;
}

/// From a byte that the fast path cannot judge: whole words, until the stream stands between words before
/// an ASCII byte. Returns where that is.
uint32_t encode_slowly(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink) {
  NormalStream stream(tables.rules, text, begin, end);
  WordBuffer word(tables, sink);
  NormalChar c;
  while (stream.next(&c)) {
    const uint32_t properties = character_class(c.code);
    word.feed(c, properties);
    if ((properties & (kSpace | kPunctuation)) == 0 || !stream.is_settled()) continue;
    const uint32_t at = stream.position();
    if (sink->is_full() || (at < end && text[at] < 0x80)) return at;
  }
  word.flush();
  return end;
}

}  // namespace

void WordBuffer::append(const NormalChar& c) {
  if (chars_ == 0) begin_ = c.begin;
  end_ = c.end;
  if (chars_ < tables_.max_word_chars) {
    char_begin_[chars_] = c.begin;
    char_end_[chars_] = c.end;
    size_ += encode_utf8(c.code, bytes_ + size_);
    ++chars_;
  } else {
    chars_ = tables_.max_word_chars + 1;
  }
}

void WordBuffer::flush() {
  if (chars_ == 0) return;
  bool known = false;
  if (chars_ <= tables_.max_word_chars) {
    bytes_[size_] = 0;
    uint32_t next = 0;  // the first code point behind the pieces located so far
    const auto locate = [this, &next](uint32_t at, uint32_t size) {
      const uint32_t first = (bytes_[at] & 0xC0) == 0x80 ? next - 1 : next;
      for (uint32_t i = at; i < at + size; ++i) next += (bytes_[i] & 0xC0) != 0x80 ? 1u : 0u;
      return Offset{char_begin_[first], char_end_[next - 1]};
    };
    known = emit_pieces(tables_.lexicon, bytes_, size_, locate, sink_);
  }
  if (!known) sink_->emit(static_cast<uint32_t>(tables_.unknown_id), begin_, end_);
  chars_ = 0;
  size_ = 0;
}

void encode_piece(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink) {
  if (tables.has_added[1]) {
    encode_with_added(tables, text, begin, end, sink);
    return;
  }
  const uint8_t* kinds = kBytes[tables.rules.lowercase ? 1 : 0].of;
  uint8_t word[kMaxWordChars + 2];
  uint32_t at = begin;
  while (at < end && !sink->is_full()) {
    const uint32_t start = at;
    uint8_t kind = kinds[text[at]];
    if (kind == kByteSpace) {
      ++at;
      continue;
    }
    uint32_t size = 0;
    if (kind == kBytePunctuation) {
      word[size++] = text[at++];
    } else {
      while (kind < kByteSpace) {
        word[size] = kind;
        size += size <= kMaxWordChars ? 1u : 0u;
        kind = ++at < end ? kinds[text[at]] : kByteSpace;
      }
      if (kind == kByteOther) {
        at = encode_slowly(tables, text, start, end, sink);
        continue;
      }
    }
    word[size] = 0;
    const auto locate = [start](uint32_t from, uint32_t length) { return Offset{start + from, start + from + length}; };
    if (size > tables.max_word_chars || !emit_pieces(tables.lexicon, word, size, locate, sink)) {
      sink->emit(static_cast<uint32_t>(tables.unknown_id), start, at);
    }
  }
}

}  // namespace bantam::text
