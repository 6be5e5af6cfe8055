#include "text/metaspace_splitter.h"

#include <string.h>

#include "linked.h"
#include "text/normal_added.h"
#include "text/utf8.h"
#if BANTAM_IF_LINKED(SplitPasses)
#include "text/split_passes.h"
#endif
#if BANTAM_IF_LINKED(token_model_bpe)
#include "text/bpe.h"
#include "text/bpe_gather.h"
#endif
#if BANTAM_IF_LINKED(token_model_unigram)
#include "text/unigram.h"
#include "text/unigram_long.h"
#endif

namespace bantam::text {
namespace {

/// Which of the models that use this splitter it is; known at compile time if only one is linked.
[[maybe_unused]] bool is_bpe(const Tables& tables) {
  if constexpr (!linked::kBpeWithUnknown) return false;
  if constexpr (!linked::token_model(static_cast<uint32_t>(fb::TokenModelKind::unigram))) return true;
  return tables.model == fb::TokenModelKind::bpe;
}

/// A piece of text as words: their code points, with a blank for each mark and a blank before a word that lacks one.
class Words {
 public:
  /// text[begin, end) is the piece; the part before `at` was already read.
  Words(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t at, uint32_t end)
      : Words(tables, {{tables.sequence, text, at, end, at > begin}, CountedStream::kAll}, at == begin) {}

  /// A piece of the normalized text: `left` code points of the stream, at least one.
  Words(const Tables& tables, const SequenceStream& stream, uint64_t left) : Words(tables, {stream, left}, true) {}

  /// Advances to the next word; returns false if there is none.
  bool begin() {
    while (splitter_.white_words && has_char_ && is_white(char_)) advance();
    if (!has_char_) return false;
    const bool lacks = splitter_.white_words ? char_.code != kMetaspace : is_first_ && !is_blank(char_);
    const bool at_text = splitter_.white_words ? char_.begin == 0 : is_text_;
    prefixes_ = lacks && splitter_.prefix_blank && (at_text || !splitter_.first_only);
    is_first_ = false;
    is_inside_ = false;
    return true;
  }

  /// Returns the word's next code point; false at its end.
  bool next(NormalChar* out) {
    if (prefixes_) {
      *out = {' ', char_.begin, char_.end};
      prefixes_ = false;
      is_inside_ = true;
      return true;
    }
    if (!has_char_ || (splitter_.white_words && is_white(char_))) return false;
    const bool blank = is_blank(char_);
    if (blank && is_inside_ && !splitter_.whole) return false;
    *out = {blank ? uint32_t{' '} : char_.code, char_.begin, char_.end};
    is_inside_ = true;
    advance();
    return true;
  }

  /// Returns true if a blank of the text follows the word, and the text can be read in place from there on, at
  /// *position.
  bool is_before_blank(const uint8_t* text, uint32_t* position) const {
    const bool blank = char_.code == ' ' || (char_.code == kMetaspace && !splitter_.white_words);
    if (stream_.is_counted()) return false;
    if (!has_char_ || !blank || char_.end != char_.begin + 1 || text[char_.begin] != ' ' || stream_.stream().lags()) {
      return false;
    }
    *position = char_.begin;
    return true;
  }

 private:
  Words(const Tables& tables, const CountedStream& stream, bool is_first)
      : splitter_(tables.metaspace), stream_(stream), is_first_(is_first) {
    advance();
    is_text_ = char_.begin == 0;
  }

  static bool is_white(const NormalChar& c) { return (character_class(c.code) & kSpace) != 0; }
  static bool is_blank(const NormalChar& c) { return c.code == ' ' || c.code == kMetaspace; }
  void advance() { has_char_ = stream_.next(&char_); }

  MetaspaceRules splitter_;
  CountedStream stream_;
  NormalChar char_ = {0, 0, 0};
  bool has_char_ = false;
  bool is_first_;  // no word of the piece was begun yet
  bool is_text_;   // the first word read begins at the beginning of the text
  bool prefixes_ = false;
  bool is_inside_ = false;
};

/// Returns true for a byte of a word that can be read in place.
bool is_plain(const NormalSequence& rules, uint8_t byte) { return byte - 0x21u < 0x5E && rules.is_plain(byte); }

/// Encodes the rest of a piece in place, as far as possible. Returns where it stopped: at a blank, or at the piece's
/// beginning.
class PlainWords {
 public:
  PlainWords(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink)
      : tables_(tables), text_(text), begin_(begin), end_(end), sink_(sink) {}

  uint32_t encode(uint32_t at) const {
    const NormalSequence& rules = tables_.sequence;
    const MetaspaceRules& splitter = tables_.metaspace;
    if (splitter.whole || !rules.keeps_blanks() || (at == begin_ && rules.changes_edges)) return at;
    while (at < end_ && !sink_->is_full()) {
      const bool blank = text_[at] == ' ';
      const uint32_t word = at + (blank ? 1 : 0);
      uint32_t stop = word;
      while (stop < end_ && is_plain(rules, text_[stop])) ++stop;
      if (stop == word) return at;
      if (stop < end_ && (text_[stop] != ' ' || stop + 1 == end_ || !is_plain(rules, text_[stop + 1]))) return at;
      const bool own = blank && !splitter.white_words;
      const bool first = splitter.first_only && (splitter.white_words ? word > 0 : begin_ > 0);
      if (!own && (!splitter.prefix_blank || first)) return at;
      if (!encode_word(own ? at : word, word, stop)) return at;
      at = stop;
    }
    return at;
  }

 private:
  /// Encodes the word text[word, stop), with the blank before it located at `begin`; if that is `word`, there is no
  /// blank.
  bool encode_word(uint32_t begin, uint32_t word, uint32_t stop) const {
    const uint32_t size = stop - word;
    if constexpr (!kSmall) {
      if (size <= kMaxTableWord && look_up(begin, word, stop)) return true;
    }
    uint8_t bytes[kUnigramWord];
    if (size + 1 > sizeof(bytes)) return false;
    bytes[0] = ' ';
    memcpy(bytes + 1, text_ + word, size);
    const auto locate = [&](uint32_t at, uint32_t length) {
      const uint32_t from = at == 0 ? begin : word + at - 1;
      const uint32_t to = word + at + length - 1;
      return Offset{from, to > from ? to : from + 1};
    };
#if BANTAM_IF_LINKED(token_model_bpe)
    if (is_bpe(tables_)) return Bpe::encode_word(tables_, bytes, size + 1, locate, sink_);
#endif
#if BANTAM_IF_LINKED(token_model_unigram)
    return Unigram::encode_word(tables_, bytes, size + 1, locate, sink_);
#else
    return false;
#endif
  }

  bool look_up(uint32_t begin, uint32_t word, uint32_t stop) const {
    uint8_t padded[kMaxTableWord];
    const uint8_t* bytes = text_ + word;
    const uint32_t size = stop - word;
    if (end_ - word < kMaxTableWord) {
      memset(padded, 0, sizeof(padded));
      memcpy(padded, bytes, size);
      bytes = padded;
    }
    const WordSlot key = short_word(bytes, size, 0);
    const WordSlot& slot = tables_.words.slot(key);
    if (slot.low != key.low || slot.high != key.high || slot.id >= tables_.lexicon.vocab_size) return false;
    sink_->emit(slot.id, begin, stop);
    return true;
  }

  const Tables& tables_;
  const uint8_t* text_;
  const uint32_t begin_;
  const uint32_t end_;
  TokenSink* sink_;
};

#if BANTAM_IF_LINKED(token_model_bpe)
/// encode_gathered for byte pair encoding.
uint32_t encode_gathered_bpe(const Tables& tables, const uint8_t* text, Words words, uint32_t at, uint32_t end,
                             TokenSink* sink) {
  BpeGather word(tables, sink);
  while (!sink->is_full() && words.begin()) {
    word.encode([&words](NormalChar* c) { return words.next(c); });
    uint32_t position = 0;
    if (words.is_before_blank(text, &position) && position > at) return position;
  }
  return end;
}
#endif

#if BANTAM_IF_LINKED(token_model_unigram)
/// The bytes of a word and the origin of each.
struct GatheredWord {
  uint32_t size = 0;
  uint8_t bytes[kUnigramWord];
  uint32_t from[kUnigramWord];
  uint32_t to[kUnigramWord];

  void append(const NormalChar& c) {
    const uint32_t more = encode_utf8(c.code, bytes + size);
    for (uint32_t i = size; i < size + more; ++i) {
      from[i] = c.begin;
      to[i] = c.end;
    }
    size += more;
  }
};

/// encode_gathered for unigram models.
uint32_t encode_gathered_unigram(const Tables& tables, const uint8_t* text, Words words, uint32_t at, uint32_t end,
                                 TokenSink* sink) {
  while (!sink->is_full() && words.begin()) {
    const Words start = words;
    GatheredWord word;
    NormalChar c;
    bool more = true;
    while (word.size + 4 <= kUnigramWord && (more = words.next(&c))) word.append(c);
    if (more) {
      LongWord<Words> rest(tables, start, sink);
      rest.encode();
      while (!sink->is_full() && words.next(&c)) {
      }
    } else {
      const auto locate = [&word](uint32_t from, uint32_t size) {
        return Offset{word.from[from], word.to[from + size - 1]};
      };
      Unigram::encode_word(tables, word.bytes, word.size, locate, sink);
    }
    uint32_t position = 0;
    if (words.is_before_blank(text, &position) && position > at) return position;
  }
  return end;
}
#endif

/// Encodes words from text[at) on until they can be read in place again. Returns that position.
uint32_t encode_gathered(const Tables& tables, const uint8_t* text, const Words& words, uint32_t at, uint32_t end,
                         TokenSink* sink) {
#if BANTAM_IF_LINKED(token_model_bpe)
  if (is_bpe(tables)) return encode_gathered_bpe(tables, text, words, at, end, sink);
#endif
#if BANTAM_IF_LINKED(token_model_unigram)
  return encode_gathered_unigram(tables, text, words, at, end, sink);
#else
  return end;
#endif
}

#if BANTAM_IF_LINKED(SplitPasses)
/// Encodes code points that other splitters cut into words; each of these is a piece for this splitter.
void encode_passes(const Tables& tables, const uint8_t* text, CountedStream stream, uint32_t begin, uint32_t end,
                   TokenSink* sink) {
  Passes passes(tables.split_passes);
  Reserve reserve(uint64_t{end - begin} * kMaxSplitPasses);
  uint32_t skipped = 0;
  while (const uint32_t length = inner_length(&passes, stream, &reserve, &skipped)) {
    NormalChar c;
    for (; skipped > 0; --skipped) stream.next(&c);
    encode_gathered(tables, text, Words(tables, stream.stream(), length), begin, end, sink);
    for (uint32_t i = 0; i < length; ++i) stream.next(&c);
    for (uint32_t i = 0; i < passes.count; ++i) passes.ends[i] -= length;
    if (sink->is_full()) return;
  }
}
#endif

/// Encodes a piece without added tokens.
void encode_plain(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink) {
#if BANTAM_IF_LINKED(SplitPasses)
  if (is_in_passes(tables)) {
    const SequenceStream stream(tables.sequence, text, begin, end, false);
    return encode_passes(tables, text, {stream, CountedStream::kAll}, begin, end, sink);
  }
#endif
  const PlainWords words(tables, text, begin, end, sink);
  for (uint32_t at = begin; at < end && !sink->is_full();) {
    at = words.encode(at);
    if (at >= end) break;
    at = encode_gathered(tables, text, Words(tables, text, begin, at, end), at, end, sink);
  }
}

}  // namespace

Status MetaspaceSplitter::verify(Check& check) {
  const auto* normalizers = check.tokenizer.normalizers();
  const bool bert =
      normalizers != nullptr && normalizers->size() > 0 && normalizers->Get(0)->kind() == fb::NormalizerKind::bert;
  const fb::TokenModel& model = *check.tokenizer.model();
  const bool bpe =
      model.kind() == fb::TokenModelKind::bpe && (model.traits() & ~(kFuseUnknown | kAnyOrder)) == kCodePoints;
  if ((model.kind() != fb::TokenModelKind::unigram && !bpe) || bert) {
    return check.fail("metaspace goes with unigram models and byte pairs of code points, not with BERT's normaliser",
                      Status::kUnsupported);
  }
  const fb::Blob* split = find_blob(check.tokenizer, fb::BlobName::split);
  if (split == nullptr) return Status::kOk;
#if BANTAM_IF_LINKED(SplitPasses)
  if constexpr (linked::kSplitPasses) {
    if (reinterpret_cast<const SplitHeader*>(check.data + split->offset())->version != kSplitVersion)
      return Status::kOk;
    return check.fail("the table of the split before metaspace does not say whether others follow");
  }
#endif
  return check.fail("splitters before metaspace are not linked", Status::kOpNotLinked);
}

void MetaspaceSplitter::encode_piece(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end,
                                     TokenSink* sink) {
  end = SequenceStream::stripped_end(tables.sequence, text, begin, end);
  if constexpr (linked::kNormalizedTokens) {
    if (has_normal_added(tables)) {
      const auto stretch = [&](const SequenceStream& stream, uint64_t count) {
#if BANTAM_IF_LINKED(SplitPasses)
        if (is_in_passes(tables)) return encode_passes(tables, text, {stream, count}, begin, end, sink);
#endif
        encode_gathered(tables, text, Words(tables, stream, count), begin, end, sink);
      };
      const auto plain = [&] { encode_plain(tables, text, begin, end, sink); };
      return encode_stretches(tables, text, begin, end, stretch, plain, sink);
    }
  }
  encode_plain(tables, text, begin, end, sink);
}

}  // namespace bantam::text
