#include "text/pattern_splitter.h"

#include <string.h>

#include "text/normal_added.h"
#include "text/split_passes.h"
#include "text/utf8.h"
#include "text/word_gather.h"

namespace bantam::text {
namespace {

#if BANTAM_IF_LINKED(token_model_bpe)
/// Returns the end of the word that begins at text[begin), begin < end. Returns 0 if bytes that are not UTF-8, or that
/// normalizers may change, occur before the end is known, or follow it. *seen: the state that detected the end.
template <typename Split>
uint32_t word_end(const Tables& tables, const Split& split, const uint8_t* text, uint32_t begin, uint32_t end,
                  Reserve* reserve, uint32_t* seen) {
  const NormalSequence& rules = tables.sequence;
  uint32_t state = split.start;
  uint32_t at = begin;
  uint32_t match = begin;
  uint32_t first = 0;  // end of the first code point
  uint32_t saw = 0;
  while (state != 0) {
    uint32_t kind = kAtEnd;
    uint32_t size = 0;
    if (at < end) {
      const uint32_t byte = text[at];
      if (byte < kSplitAscii) {
        if (!rules.is_plain(byte)) return 0;
        kind = split.ascii[byte];
        size = 1;
      } else {
        if (rules.is_there()) return 0;
        const CodePoint c = decode_utf8(text + at, end - at);
        if (c.code == kReplacement && (c.size != 3 || text[at + 1] != 0xBF)) return 0;
        kind = split.class_of(c.code);
        size = c.size;
      }
    }
    const uint32_t entry = split.next[state + kind];
    if ((entry & kSplitMatch) != 0) {
      match = at;
      saw = state;
    } else if (!reserve->allows(at - match)) {
      break;
    }
    state = entry & (kSplitMatch - 1);
    at += size;
    if (first == 0) first = at;
  }
  for (uint32_t back = split.back(saw); back > 0 && match > begin; --back) {
    do --match;
    while (match > begin && goes_on_code(text[match]));
  }
  reserve->take(at - match);
  *seen = saw;
  const uint32_t stop = match > begin ? match : first;
  return stop < end && rules.is_there() && !rules.is_plain(text[stop]) ? 0 : stop;
}

/// Encodes words of a text that is read in place.
class InPlace {
 public:
  InPlace(const Tables& tables, const uint8_t* text, uint32_t end, TokenSink* sink)
      : tables_(tables), text_(text), end_(end), sink_(sink) {}

  /// Encodes text[begin, stop) to tokens.
  void encode(uint32_t begin, uint32_t stop) {
    const uint32_t size = stop - begin;
    if constexpr (!kSmall) {
      // The table contains words without their marks.
      if (size <= tables_.table_chars && text_[stop - 1] != 0 && look_up(begin, size)) return;
    }
    const uint8_t* bytes = text_ + begin;
    if (marks()) return encode_marked(begin, size);
    Bpe::encode_word(
        tables_, bytes, size, [&](uint32_t at, uint32_t length) { return locate(begin + at, length); }, sink_);
  }

  /// The most bytes of a word for encode().
  uint32_t most() const { return marks() ? kBpeWindow - 2 : UINT32_MAX; }

 private:
  bool marks() const { return linked::kWordMarks && (tables_.traits & (kBeginMarks | kEndMarks)) != 0; }

  /// Encodes text[begin, begin + size), at most most() bytes, with marks added.
  void encode_marked(uint32_t begin, uint32_t size) {
    uint8_t bytes[kBpeWindow];
    const uint32_t lead = (tables_.traits & kBeginMarks) != 0 ? 1 : 0;
    const uint32_t tail = (tables_.traits & kEndMarks) != 0 ? 1 : 0;
    bytes[0] = kBeginMark;
    memcpy(bytes + lead, text_ + begin, size);
    bytes[lead + size] = kEndMark;
    const auto where = [&](uint32_t at, uint32_t length) {
      // A mark alone, which no sensible vocabulary has as a token, gets the offsets of the adjacent character.
      uint32_t first = at > lead ? at - lead : 0;
      if (first >= size) first = size - 1;
      uint32_t last = at + length - lead;
      if (last > size) last = size;
      if (last <= first) last = first + 1;
      return locate(begin + first, last - first);
    };
    Bpe::encode_word(tables_, bytes, lead + size + tail, where, sink_);
  }

  /// Looks the word up in the table of words; if found, emits it and returns true.
  bool look_up(uint32_t begin, uint32_t size) {
    uint8_t padded[kMaxTableWord];
    const uint8_t* bytes = text_ + begin;
    if (end_ - begin < kMaxTableWord) {
      memset(padded, 0, sizeof(padded));
      memcpy(padded, bytes, size);
      bytes = padded;
    }
    const WordSlot word = short_word(bytes, size, 0);
    const WordSlot& slot = tables_.words.slot(word);
    if (slot.low != word.low || slot.high != word.high || slot.id >= tables_.lexicon.vocab_size || word.low == 0) {
      return false;
    }
    emit_known(tables_, slot.id, {begin, begin + size}, sink_);
    return true;
  }

  /// Returns the offsets of text[begin, begin + size). A part of a character gets the offsets of the whole character.
  Offset locate(uint32_t begin, uint32_t size) const {
    Offset where = {begin, begin + size};
    if constexpr (!linked::kOffsets) return where;
    while (where.begin > 0 && goes_on_code(text_[where.begin])) --where.begin;
    while (where.end < end_ && goes_on_code(text_[where.end])) ++where.end;
    return where;
  }

  const Tables& tables_;
  const uint8_t* text_;
  const uint32_t end_;
  TokenSink* sink_;
};
#endif

/// The code points of a piece of text, with a blank before the first one if `prefix`.
class Characters {
 public:
  Characters(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, bool inside, bool prefix)
      : Characters({{tables.sequence, text, begin, end, inside}, CountedStream::kAll}, prefix) {}

  Characters(const CountedStream& stream, bool prefix) : stream_(stream) {
    CountedStream ahead = stream_;
    NormalChar first = {0, 0, 0};
    prefixed_ = prefix && ahead.next(&first) && first.code != ' ';
    if (prefixed_) prefix_ = {' ', first.begin, first.end};
  }
  bool next(NormalChar* out) {
    if (prefixed_) {
      *out = prefix_;
      prefixed_ = false;
      return true;
    }
    return stream_.next(out);
  }
  uint32_t position() const { return stream_.stream().position(); }
  /// Returns true if the text from position() on can be read in place.
  bool is_settled() const { return !prefixed_ && !stream_.is_counted() && stream_.stream().is_settled(); }

 private:
  CountedStream stream_;
  bool prefixed_ = false;
  NormalChar prefix_ = {0, 0, 0};
};

/// Returns true if words are prefixed with blanks before the last table splits them.
bool prefixes_words(const Tables& tables) {
  if (!linked::kSplitPrefix || !is_in_passes(tables)) return false;
  const Passes passes(tables.split_passes);
  return passes.count > 1 && passes.tables[passes.count - 2].prefixes;
}

/// Does the same as encode_gathered for tables that drop text or split words again.
uint32_t encode_passes(const Tables& tables, Characters stream, uint32_t end, Reserve* reserve, TokenSink* sink) {
  Passes passes(tables.split_passes);
  uint32_t skipped = 0;
  while (const uint32_t length = inner_length(&passes, stream, reserve, &skipped)) {
    NormalChar c;
    for (; skipped > 0; --skipped) stream.next(&c);
    uint32_t left = length;
    gather_word(tables, sink, [&](NormalChar* out) { return left-- > 0 && stream.next(out); });
    for (uint32_t i = 0; i < passes.count; ++i) passes.ends[i] -= length;
    if (passes.ends[0] == 0 && stream.is_settled()) return stream.position();
    if (sink->is_full()) break;
  }
  return end;
}

/// A word of a stream, prefixed with a blank unless it begins with one.
class PrefixedWord {
 public:
  PrefixedWord(const Characters& stream, uint32_t size) : stream_(stream), left_(size) {
    Characters ahead = stream;
    lacks_blank_ = ahead.next(&first_) && first_.code != ' ';
  }
  bool next(NormalChar* out) {
    if (lacks_blank_) {
      *out = {' ', first_.begin, first_.end};
      lacks_blank_ = false;
      return true;
    }
    if (left_ == 0) return false;
    --left_;
    return stream_.next(out);
  }

 private:
  Characters stream_;
  uint32_t left_;
  bool lacks_blank_;
  NormalChar first_ = {0, 0, 0};
};

/// encode_passes for words that are prefixed with blanks before the last table splits them.
uint32_t encode_prefixed(const Tables& tables, Characters stream, uint32_t end, Passes passes, Reserve* reserve,
                         TokenSink* sink) {
  const SplitPassTable last = passes.tables[--passes.count];
  uint32_t skipped = 0;
  while (const uint32_t length = inner_length(&passes, stream, reserve, &skipped)) {
    NormalChar c;
    for (; skipped > 0; --skipped) stream.next(&c);
    PrefixedWord rest(stream, length);
    SeenWord seen;
    while (uint32_t left = word_length<SearchedSplit>(last, rest, UINT32_MAX, reserve, &seen)) {
      gather_word(tables, sink, [&](NormalChar* out) { return left-- > 0 && rest.next(out); });
      if (sink->is_full()) return end;  // a full sink reads no more code points, so the word would never end
    }
    for (uint32_t i = 0; i < length; ++i) stream.next(&c);
    for (uint32_t i = 0; i < passes.count; ++i) passes.ends[i] -= length;
  }
  return end;
}

/// Encodes words that cannot be read in place, until one can again. Returns that position.
uint32_t encode_characters(const Tables& tables, Characters stream, uint32_t end, Reserve* reserve, TokenSink* sink) {
  if (is_in_passes(tables)) {
    if (linked::kSplitPrefix && prefixes_words(tables)) {
      return encode_prefixed(tables, stream, end, Passes(tables.split_passes), reserve, sink);
    }
    return encode_passes(tables, stream, end, reserve, sink);
  }
  SeenWord seen;
  while (const uint32_t length = word_length(tables.split, stream, UINT32_MAX, reserve, &seen)) {
    uint32_t left = length;
    gather_word(tables, sink, [&](NormalChar* c) { return left-- > 0 && stream.next(c); });
    if (stream.is_settled() || sink->is_full()) return stream.position();
  }
  return end;
}

/// encode_characters from text[begin) on. `inside`: words precede it.
uint32_t encode_gathered(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, bool inside,
                         bool prefix, Reserve* reserve, TokenSink* sink) {
  const Characters stream(tables, text, begin, end, inside, prefix);
  return encode_characters(tables, stream, end, reserve, sink);
}

#if BANTAM_IF_LINKED(token_model_bpe)
/// encode_piece, from text[at) on, for tables that drop text or split words again.
void encode_in_passes(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t at, uint32_t end,
                      InPlace* words, Reserve* reserve, TokenSink* sink) {
  Passes passes(tables.split_passes);
  for (uint32_t pass = 0; at < end && !sink->is_full();) {
    const SplitPassTable& split = passes.tables[pass];
    if (passes.ends[pass] <= at) {
      const uint32_t limit = pass == 0 ? end : passes.ends[pass - 1];
      uint32_t seen = 0;
      passes.ends[pass] = word_end<SearchedSplit>(tables, split, text, at, limit, reserve, &seen);
      // Only a whole word of the first table can be gathered; the other tables read only text that the first one has
      // read.
      if (passes.ends[pass] == 0 || (pass == 0 && passes.ends[pass] - at > words->most())) {
        at = encode_gathered(tables, text, at, end, at > begin, false, reserve, sink);
        passes.ends[0] = 0;
        pass = 0;
        continue;
      }
      if (split.leaves_out(split.class_of(decode_utf8(text + at, limit - at).code), seen)) {
        at = passes.ends[pass];
        pass = 0;
        continue;
      }
    }
    if (++pass < passes.count) continue;
    words->encode(at, passes.ends[pass - 1]);
    at = passes.ends[pass - 1];
    pass = 0;
  }
}

/// encode_plain for text that can be read in place.
void encode_in_place(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, Reserve* reserve,
                     TokenSink* sink) {
  InPlace words(tables, text, end, sink);
  uint32_t at = begin;
  // Normalizers may remove the blank there.
  const bool lacks_blank = tables.prefix_blank && (text[at] != ' ' || tables.sequence.is_there());
  const bool gathers = linked::kSplitPrefix && prefixes_words(tables);
  if (lacks_blank || tables.sequence.changes_edges || gathers) {
    at = encode_gathered(tables, text, at, end, false, tables.prefix_blank, reserve, sink);
  }
  if (is_in_passes(tables)) {
    encode_in_passes(tables, text, begin, at, end, &words, reserve, sink);
    return;
  }
  uint32_t seen = 0;
  while (at < end && !sink->is_full()) {
    const uint32_t stop = word_end(tables, tables.split, text, at, end, reserve, &seen);
    if (stop == 0 || stop - at > words.most()) {
      at = encode_gathered(tables, text, at, end, at > begin, false, reserve, sink);
    } else {
      words.encode(at, stop);
      at = stop;
    }
  }
}
#endif

/// Encodes a piece without added tokens.
void encode_plain(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, Reserve* reserve,
                  TokenSink* sink) {
#if BANTAM_IF_LINKED(token_model_bpe)
  if (reads_in_place(tables)) return encode_in_place(tables, text, begin, end, reserve, sink);
#endif
  for (uint32_t at = begin; at < end && !sink->is_full();) {
    at = encode_gathered(tables, text, at, end, at > begin, at == begin && tables.prefix_blank, reserve, sink);
  }
}

}  // namespace

Status PatternSplitter::verify(Check& check) {
  const auto* normalizers = check.tokenizer.normalizers();
  const bool bert =
      normalizers != nullptr && normalizers->size() > 0 && normalizers->Get(0)->kind() == fb::NormalizerKind::bert;
  const fb::TokenModelKind kind = check.tokenizer.model()->kind();
  if ((kind != fb::TokenModelKind::bpe && kind != fb::TokenModelKind::wordpiece) || bert) {
    return check.fail("words by a pattern go with byte pair encoding and WordPiece, and not with BERT's normaliser",
                      Status::kUnsupported);
  }
  return find_blob(check.tokenizer, fb::BlobName::split) != nullptr ? Status::kOk
                                                                    : check.fail("the table of the split is not there");
}

void PatternSplitter::encode_piece(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end,
                                   TokenSink* sink) {
  end = SequenceStream::stripped_end(tables.sequence, text, begin, end);
  if (begin == end) return;
  Reserve reserve(uint64_t{end - begin} * (is_in_passes(tables) ? kMaxSplitPasses : 1));
  const auto plain = [&] { encode_plain(tables, text, begin, end, &reserve, sink); };
  if constexpr (linked::kNormalizedTokens) {
    if (has_normal_added(tables)) {
      const auto stretch = [&](const SequenceStream& stream, uint64_t count) {
        encode_characters(tables, Characters({stream, count}, tables.prefix_blank), end, &reserve, sink);
      };
      return encode_stretches(tables, text, begin, end, stretch, plain, sink);
    }
  }
  plain();
}

}  // namespace bantam::text
