// Added tokens that are matched in the normalized text: leftmost first, then longest. The splitter gets the text
// between them.
#ifndef BANTAM_TEXT_NORMAL_ADDED_H_
#define BANTAM_TEXT_NORMAL_ADDED_H_

#include <stdint.h>

#include "text/added_tokens.h"
#include "text/blank_trim.h"
#include "text/token_sink.h"
#include "text/utf8.h"

namespace bantam::text {

/// A match in the normalized text. `Stream`: NormalStream or SequenceStream.
template <typename Stream>
struct NormalMatch {
  uint32_t index = 0;
  uint32_t chars = 0;  // 0: none
  uint32_t end = 0;    // end of the match in bytes of the text
  uint32_t last = 0;   // its last code point
  Stream after;
};

/// Returns the longest token that begins with `first` and continues with the code points of `behind`.
template <typename Stream>
NormalMatch<Stream> longest_normalized(const Lexicon& lexicon, const NormalChar& first, const Stream& behind) {
  NormalMatch<Stream> best = {0, 0, 0, 0, behind};
  Stream stream = behind;
  uint32_t base = lexicon.roots->added[kNormalized];
  uint32_t left = lexicon.roots->longest[kNormalized];
  NormalChar c = first;
  bool more = true;
  for (uint32_t chars = 1; more && left > 0; ++chars, more = stream.next(&c)) {
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

/// The blanks after a token that strips them. Tokens that are blanks themselves lie within those of the preceding
/// token, which are not scanned again.
struct PassedBlanks {
  uint64_t until = 0;       // in normalized code points
  uint32_t end = 0;         // end of the last of them, or of the token, in bytes
  bool more = false;        // a code point follows
  uint32_t next_begin = 0;  // its position in bytes
};

/// trim_added for a match of `chars` code points: `first` and those of `behind`. The token begins with code point
/// `skipped` of them, after `before` blanks, and is followed by `after` blanks.
template <typename Stream>
void trim_match(const Tables& tables, const NormalChar& first, Stream behind, uint32_t chars, uint64_t skipped,
                uint64_t before, uint64_t after, const TokenSink& sink, Offset* where) {
  EdgeBlanks blanks;
  blanks.add(true, before);
  NormalChar c = first;
  for (uint32_t i = 0; i < chars && (i == 0 || behind.next(&c)); ++i) {
    if (i >= skipped) blanks.add(is_trimmed(c.code));
  }
  blanks.add(true, after);
  trim(tables, blanks, sink, where);
}

/// Encodes the rest of a piece of text, read from `stream`. Finds added tokens itself, and calls `words` for the rest:
///   mark(stream), feed(c, properties): for each code point; mark gets the stream before it
///   flush(begin, end, last): code points `begin` to `end`, which were fed and belong to no token, must be encoded
///     now, before the next token or at the end
///   restart(stream, index): code point number `index` comes next; `stream` is positioned there
template <typename Stream, typename Words>
void encode_with_added(const Tables& tables, Stream stream, Words* words, TokenSink* sink) {
  const Lexicon& lexicon = tables.lexicon;
  uint64_t index = 0;        // number of the next normalized code point
  uint64_t quiet_until = 0;  // end of a match that was discarded
  uint64_t floor = 0;        // end of the previous token, including blanks
  uint32_t floor_begin = 0;  // position in bytes of code point number `floor`
  PassedBlanks passed;
  uint32_t previous = ' ';
  bool after_blanks = false;
  uint64_t blanks = 0;  // number of the first of the preceding blanks
  uint32_t blanks_begin = 0;
  while (!sink->is_full()) {
    words->mark(stream);
    NormalChar c;
    if (!stream.next(&c)) break;
    uint8_t bytes[4];
    encode_utf8(c.code, bytes);
    if (index >= quiet_until && may_start(*lexicon.roots, kNormalized, bytes[0])) {
      const NormalMatch<Stream> match = longest_normalized(lexicon, c, stream);
      if (match.chars != 0 && match.index < tables.added->size()) {
        const fb::AddedToken& token = *tables.added->Get(match.index);
        Stream ahead = match.after;
        NormalChar next = {0, 0, 0};
        bool more = ahead.next(&next);
        quiet_until = index + match.chars;
        if (!token.single_word() || !(is_word_character(previous) || (more && is_word_character(next.code)))) {
          const uint64_t last_floor = floor;
          uint64_t begin = index;
          Offset where = {c.begin, match.end};
          floor = quiet_until;
          if (token.rstrip()) {
            if (floor >= passed.until) {
              for (; more && (character_class(next.code) & kSpace) != 0; more = ahead.next(&next)) {
                where.end = next.end;
                ++floor;
              }
              passed = {floor, where.end, more, next.begin};
            }
            floor = passed.until;
            where.end = passed.end;
            more = passed.more;
            next.begin = passed.next_begin;
          }
          if (token.lstrip() && after_blanks) {
            begin = blanks;
            where.begin = blanks_begin;
          }
          if (token.lstrip() && index < last_floor) {
            begin = last_floor;
            where.begin = floor_begin;
          }
          floor_begin = more ? next.begin : where.end;
          words->flush(last_floor, begin, false);
          // The previous token has already taken these blanks.
          if (begin < floor) {
            if constexpr (linked::kTrimmedBlanks) {
              const uint64_t skipped = begin < index ? 0 : begin - index;
              const uint64_t after = begin < quiet_until ? floor - quiet_until : floor - begin;
              const uint64_t before = begin < index ? index - begin : 0;
              if (tables.trim_blanks) {
                trim_match(tables, c, stream, match.chars, skipped, before, after, *sink, &where);
              }
            }
            sink->emit(token.id(), where.begin, where.end);
          }
          stream = match.after;
          index = quiet_until;
          previous = match.last;
          after_blanks = false;
          words->restart(stream, index);
          continue;
        }
      }
    }
    const uint32_t properties = character_class(c.code);
    if ((properties & kSpace) == 0) {
      after_blanks = false;
    } else if (!after_blanks && index >= floor) {
      after_blanks = true;
      blanks = index;
      blanks_begin = c.begin;
    }
    previous = c.code;
    words->feed(c, properties);
    ++index;
  }
  words->flush(floor, index, true);
}

/// A stream limited to `left` code points, or unlimited. In images without such added tokens and without split passes
/// it is always unlimited.
class CountedStream {
 public:
  static constexpr uint64_t kAll = UINT64_MAX;
  static constexpr bool kCounts = linked::kNormalizedTokens || linked::kSplitPasses;

  CountedStream(const SequenceStream& stream, uint64_t left) : stream_(stream), left_(left) {}

  bool next(NormalChar* out) {
    if constexpr (kCounts) {
      if (left_ == 0) return false;
      if (left_ != kAll) --left_;
    }
    return stream_.next(out);
  }
  /// If it is limited, the text after it cannot be read in place.
  bool is_counted() const { return kCounts && left_ != kAll; }
  const SequenceStream& stream() const { return stream_; }

 private:
  SequenceStream stream_;
  uint64_t left_;
};

#if BANTAM_IF_LINKED(normalizer_any) || BANTAM_IF_LINKED(splitter_pattern) || BANTAM_IF_LINKED(splitter_metaspace)
/// The `words` of encode_with_added for a splitter that takes a stream and a number of its code points: stretch(stream,
/// count), or whole() for a piece without added tokens.
template <typename Stretch, typename Whole>
class Stretches {
 public:
  Stretches(const SequenceStream& stream, Stretch stretch, Whole whole)
      : from_(stream), stretch_(stretch), whole_(whole) {}

  void mark(const SequenceStream& /*here*/) {}
  void feed(const NormalChar& /*c*/, uint32_t /*properties*/) {}
  void flush(uint64_t begin, uint64_t end, bool last) {
    if (begin >= end) return;
    if (last && !restarted_) return whole_();
    NormalChar c;
    for (; at_ < begin; ++at_) from_.next(&c);
    stretch_(from_, end - begin);
  }
  void restart(const SequenceStream& stream, uint64_t index) {
    from_ = stream;
    at_ = index;
    restarted_ = true;
  }

 private:
  SequenceStream from_;
  uint64_t at_ = 0;
  bool restarted_ = false;
  Stretch stretch_;
  Whole whole_;
};

/// Encodes the piece text[begin, end) with such a splitter.
template <typename Stretch, typename Whole>
void encode_stretches(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, Stretch stretch,
                      Whole whole, TokenSink* sink) {
  const SequenceStream stream(tables.sequence, text, begin, end, false);
  Stretches<Stretch, Whole> words(stream, stretch, whole);
  encode_with_added(tables, stream, &words, sink);
}
#endif

/// Returns true if the tokenizer has added tokens that are matched in the normalized text.
inline bool has_normal_added(const Tables& tables) {
  return linked::kNormalizedTokens && tables.lexicon.roots->longest[kNormalized] != 0;
}

}  // namespace bantam::text

#endif  // BANTAM_TEXT_NORMAL_ADDED_H_
