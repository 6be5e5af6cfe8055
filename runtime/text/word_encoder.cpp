#include "text/word_encoder.h"

#include <string.h>

#include "linked.h"
#include "text/utf8.h"
#if !defined(BANTAM_FIRMWARE)
#include "text/ascii_block.h"
#endif
#if BANTAM_IF_LINKED(NormalizedTokens)
#include "text/normal_added.h"
#endif

namespace bantam::text {
namespace {

#if !defined(BANTAM_FIRMWARE)
/// Returns true if the fast path should resume at text[at]: eight ASCII bytes follow or, near the end, one or none.
bool is_ascii_ahead(const uint8_t* text, uint32_t at, uint32_t end) {
  if (end - at >= 8) return (load_u64(text + at) & 0x8080808080808080u) == 0;
  return at == end || text[at] < 0x80;
}
#endif

/// Encodes whole words from a byte that the fast path cannot handle, until the stream is between words and ASCII
/// follows. Returns that position.
uint32_t encode_slowly(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink) {
  NormalStream stream(tables.rules, text, begin, end);
  WordBuffer word(tables, stream, sink);
  NormalChar c;
  for (word.mark(stream); stream.next(&c); word.mark(stream)) {
    const uint32_t properties = character_class(c.code);
    word.feed(c, properties);
    if ((properties & (kSpace | kPunctuation)) == 0 || !stream.is_settled()) continue;
    const uint32_t at = stream.position();
    if (sink->is_full()) return at;
#if !defined(BANTAM_FIRMWARE)
    if (is_ascii_ahead(text, at, end)) return at;
#endif
  }
  word.flush();
  return end;
}

#if !defined(BANTAM_FIRMWARE)
/// The words of some blocks of text. First all are looked up in the table, without branches that depend on memory; then
/// they are emitted, and those that the table does not contain are looked up in the trie.
class Batch {
 public:
  static constexpr uint32_t kBlocks = 4;
  /// Bytes of the text that add() reads.
  static constexpr uint32_t kReach = kBlockSize + kMaxTableWord;

  struct Stop {
    uint32_t at;
    bool slow;  // the word that begins there needs the slow path
  };

  /// bytes[0] is byte number `origin` of the text.
  Batch(const Tables& tables, const uint8_t* bytes, uint32_t origin)
      : tables_(tables), bytes_(bytes), origin_(origin) {}

  /// Takes the words of the 64 bytes from byte number `at` on, up to the last one that ends in them or the first byte
  /// that is not ASCII. Returns that position. Call it at most kBlocks times.
  Stop add(uint32_t at) {
    const uint8_t* bytes = bytes_ + (at - origin_);
    const AsciiBlock block = classify_ascii(bytes);
    // This block skips words that touch its end, or a character that may change or continue them.
    const uint32_t limit = block.other == 0 ? kBlockSize : static_cast<uint32_t>(__builtin_ctzll(block.other));
    const uint64_t below = limit == 0 ? 0 : block.word << (kBlockSize - limit);
    const uint32_t touching = ~below == 0 ? kBlockSize : static_cast<uint32_t>(__builtin_clzll(~below));
    const uint32_t stop = limit - touching;
    uint64_t starts = block.printed & ~(block.word & block.word << 1);
    if (stop < kBlockSize) starts &= (uint64_t{1} << stop) - 1;
    uint32_t count = count_;
    for (; starts != 0; starts &= starts - 1) {
      const uint32_t start = static_cast<uint32_t>(__builtin_ctzll(starts));
      const uint64_t rest = block.word >> start;
      const uint32_t size = static_cast<uint32_t>(__builtin_ctzll(~rest) + static_cast<int>(~rest & 1));
      const uint32_t kept = size < tables_.table_chars ? size : tables_.table_chars;
      const WordSlot word = short_word(bytes + start, kept, (0 - (rest & 1)) & tables_.ascii_fold);
      const WordSlot& slot = tables_.words.slot(word);
      // not 0: the id is not a token
      const uint64_t beyond = (uint64_t{tables_.lexicon.vocab_size} - 1 - slot.id) >> 32;
      const uint64_t difference = (slot.low ^ word.low) | (slot.high ^ word.high) | (size ^ kept) | beyond;
      ids_[count] = slot.id | (0 - static_cast<uint32_t>(difference != 0));  // kMissed, without a branch
      ranges_[count][0] = at + start;
      ranges_[count][1] = at + start + size;
      ++count;
    }
    count_ = count;
    return {at + stop, limit < kBlockSize || stop == 0};
  }

  void emit(TokenSink* sink) const {
    uint32_t done = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      if (ids_[i] != kMissed) continue;
      sink->emit_all(ids_ + done, ranges_ + done, i - done);
      done = i + 1;
      look_up(ranges_[i][0], ranges_[i][1] - ranges_[i][0], sink);
    }
    sink->emit_all(ids_ + done, ranges_ + done, count_ - done);
  }

 private:
  static constexpr uint32_t kMissed = 0xFFFFFFFF;

  /// Encodes a word that is not in the table: its pieces, or the unknown token.
  void look_up(uint32_t begin, uint32_t size, TokenSink* sink) const {
    const uint8_t* from = bytes_ + (begin - origin_);
    uint8_t word[kBlockSize + 1];
    const uint8_t fold = tables_.ascii_fold != 0 ? 0x20 : 0;
    for (uint32_t i = 0; i < size; ++i) word[i] = from[i] >= 'A' && from[i] <= 'Z' ? from[i] | fold : from[i];
    word[size] = 0;
    const auto locate = [begin](uint32_t at, uint32_t length) { return Offset{begin + at, begin + at + length}; };
    if (size > tables_.max_word_chars || !WordPiece::encode_word(tables_, word, size, locate, sink)) {
      sink->emit(static_cast<uint32_t>(tables_.unknown_id), begin, begin + size);
    }
  }

  const Tables& tables_;
  const uint8_t* bytes_;
  const uint32_t origin_;
  uint32_t count_ = 0;
  uint32_t ids_[kBlocks * kBlockSize];
  uint32_t ranges_[kBlocks * kBlockSize][2];
};

/// Encodes whole words of text[begin, end) as far as the fast path applies. Returns where it stopped; *slow:
/// encode_slowly must continue there.
uint32_t encode_batch(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink,
                      bool* slow) {
  Batch::Stop stop = {begin, false};
  if (end - begin >= Batch::kReach) {
    Batch batch(tables, text + begin, begin);
    for (uint32_t i = 0; i < Batch::kBlocks && end - stop.at >= Batch::kReach && !stop.slow; ++i) {
      stop = batch.add(stop.at);
    }
    batch.emit(sink);
  } else {
    uint8_t padded[Batch::kReach];
    memset(padded, ' ', sizeof(padded));
    memcpy(padded, text + begin, end - begin);
    Batch batch(tables, padded, begin);
    stop = batch.add(begin);
    batch.emit(sink);
    if (stop.at - begin > end - begin) stop.at = end;
  }
  *slow = stop.slow;
  return stop.at;
}

#endif

#if BANTAM_IF_LINKED(NormalizedTokens)
/// Words between added tokens.
struct AddedWords {
  WordBuffer word;

  void mark(const NormalStream& stream) { word.mark(stream); }
  void feed(const NormalChar& c, uint32_t properties) { word.feed(c, properties); }
  void flush(uint64_t /*begin*/, uint64_t /*end*/, bool /*last*/) { word.flush(); }
  void restart(const NormalStream& /*stream*/, uint64_t /*index*/) {}
};
#endif

}  // namespace

Status BertSplitter::verify(Check& check) {
  if (check.tokenizer.model()->kind() == fb::TokenModelKind::wordpiece) return Status::kOk;
  return check.fail("BERT's words go with WordPiece only", Status::kUnsupported);
}

void BertSplitter::encode_piece(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end,
                                TokenSink* sink) {
#if BANTAM_IF_LINKED(NormalizedTokens)
  if (has_normal_added(tables)) {
    const NormalStream stream(tables.rules, text, begin, end);
    AddedWords words = {WordBuffer(tables, stream, sink)};
    encode_with_added(tables, stream, &words, sink);
    return;
  }
#endif
#if defined(BANTAM_FIRMWARE)
  encode_slowly(tables, text, begin, end, sink);
#else
  uint32_t at = begin;
  while (at < end && !sink->is_full()) {
    bool slow = false;
    at = encode_batch(tables, text, at, end, sink, &slow);
    if (slow) at = encode_slowly(tables, text, at, end, sink);
  }
#endif
}

}  // namespace bantam::text
