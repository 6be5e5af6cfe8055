#include "text/label_encoder.h"

#include "bantam/model.h"
#include "linked.h"
#include "text/encoder.h"
#include "text/split_search.h"
#include "text/utf8.h"

#if BANTAM_IF_LINKED(part_Found)

namespace bantam::text {
namespace {

/// The code points of an unnormalized text.
class RawChars {
 public:
  RawChars(Text text, uint32_t at)
      : bytes_(reinterpret_cast<const uint8_t*>(text.data)), size_(static_cast<uint32_t>(text.size)), at_(at) {}

  bool next(NormalChar* out) {
    if (at_ == size_) return false;
    const CodePoint c = decode_utf8(bytes_ + at_, size_ - at_);
    *out = {c.code, at_, at_ + c.size};
    at_ += c.size;
    return true;
  }
  uint32_t position() const { return at_; }

 private:
  const uint8_t* bytes_;
  uint32_t size_, at_;
};

/// The words of a text, as the blob `word_split` splits it.
class CutText {
 public:
  CutText(const uint8_t* table, Text text) : split_(table), text_(text), reserve_(text.size) {}

  /// Finds the next word; returns false at the end of the text.
  bool next(Offset* word) {
    for (;;) {
      RawChars chars(text_, at_);
      SeenWord seen;
      const uint32_t length = word_length<SearchedSplit>(split_, chars, UINT32_MAX, &reserve_, &seen);
      if (length == 0) return false;
      NormalChar c;
      for (uint32_t i = 0; i < length; ++i) chars.next(&c);
      *word = {at_, chars.position()};
      at_ = chars.position();
      if (!split_.leaves_out(seen.lead, seen.state)) return true;
    }
  }

 private:
  SplitPassTable split_;
  Text text_;
  Reserve reserve_;
  uint32_t at_ = 0;
};

/// Writes tokens to a buffer.
class LabelEncoder {
 public:
  LabelEncoder(const Tables& tables, const fb::Finding& finding, uint32_t room, const TokenBuffer& out, int32_t* marks)
      : tables_(tables), finding_(finding), room_(room), out_(out), marks_(marks) {}

  /// Returns false if the token does not fit.
  bool token(int32_t id, int32_t mark, uint32_t segment) {
    if (at_ == room_) return false;
    out_.ids[at_] = id;
    put(at_, mark, segment, kSpecial);
    if (out_.offsets != nullptr) out_.offsets[at_] = {0, 0};
    ++at_;
    return true;
  }

  bool label(Text label, uint32_t segment) {
    if (!token(finding_.label_id(), finding_.behind() ? 0 : kLabelMark, segment)) return false;
    const uint32_t first = at_;
    TokenSink sink = sink_here(nullptr);
    encode_text(tables_, label, &sink);
    if (sink.count > sink.room) return false;
    for (uint32_t i = 0; i < sink.count; ++i) {
      put(first + i, i == 0 && finding_.behind() ? kLabelMark : 0, segment, kSpecial);
      if (out_.offsets != nullptr) out_.offsets[first + i] = {0, 0};
    }
    at_ += sink.count;
    return true;
  }

  /// Encodes one word of the text. Tokens that do not fit are only counted.
  void word(Text text, Offset where, uint32_t segment, EncodeResult* result) {
    TokenSink sink = sink_here(out_.offsets);
    encode_text(tables_, {text.data + where.begin, where.end - where.begin}, &sink);
    const uint32_t written = sink.count < sink.room ? sink.count : sink.room;
    for (uint32_t i = at_; i < at_ + written; ++i) {
      put(i, i == at_ ? kWordMark : 0, segment, 0);
      if (out_.offsets == nullptr) continue;
      out_.offsets[i].begin += where.begin;
      out_.offsets[i].end += where.begin;
    }
    at_ += written;
    result->content[0] += sink.count;
    result->kept[0] += written;
  }

  uint32_t size() const { return at_; }
  /// Reserves `count` tokens for what follows, or releases them.
  void leave(uint32_t count) { room_ -= count; }
  void take(uint32_t count) { room_ += count; }
  /// Ends the room for text; only take() makes room again.
  void close() { room_ = at_; }

 private:
  TokenSink sink_here(Offset* offsets) const {
    TokenSink sink;
    sink.ids = out_.ids + at_;
    sink.offsets = offsets == nullptr ? nullptr : offsets + at_;
    sink.room = room_ - at_;
    return sink;
  }
  void put(uint32_t i, int32_t mark, uint32_t segment, uint8_t sequence) const {
    marks_[i] = mark;
    if (out_.segments != nullptr) out_.segments[i] = static_cast<int32_t>(segment);
    if (out_.sequences != nullptr) out_.sequences[i] = sequence;
  }

  const Tables& tables_;
  const fb::Finding& finding_;
  uint32_t room_;
  const TokenBuffer& out_;
  int32_t* marks_;
  uint32_t at_ = 0;
};

}  // namespace

Status encode_labelled(const Tables& tables, const fb::Finding& finding, const LabelledText& labelled,
                       uint32_t max_tokens, const TokenBuffer& out, int32_t* marks, EncodeResult* result) {
  const Text text = labelled.text;
  *result = EncodeResult{};
  constexpr size_t kMaxText = 0xFFFFFFFE;
  if (text.data == nullptr && text.size > 0) return Status::kInvalidArgument;
  if (text.size > kMaxText) return Status::kTextTooLong;
  if (labelled.label_count > finding.max_labels()) return Status::kIndexOutOfRange;
  for (uint32_t i = 0; i < labelled.label_count; ++i) {
    if (labelled.labels[i].data == nullptr && labelled.labels[i].size > 0) return Status::kInvalidArgument;
    if (labelled.labels[i].size > kMaxText) return Status::kTextTooLong;
  }
  const auto& pieces = *tables.source->single();
  const uint32_t limit = max_tokens < out.capacity ? max_tokens : out.capacity;
  const uint32_t specials = template_specials(*tables.source, false);
  if (limit <= specials) return Status::kBufferTooSmall;
  LabelEncoder encoder(tables, finding, limit, out, marks);
  uint32_t left = specials;  // remaining template tokens
  for (uint32_t p = 0; p < pieces.size(); ++p) {
    const fb::TemplatePiece& piece = *pieces.Get(p);
    if (piece.token() >= 0) {
      if (!encoder.token(piece.token(), 0, piece.segment())) return Status::kBufferTooSmall;
      --left;
      continue;
    }
    encoder.leave(left);
    for (uint32_t i = 0; i < labelled.label_count; ++i) {
      if (!encoder.label(labelled.labels[i], piece.segment())) return Status::kBufferTooSmall;
    }
    if (!encoder.token(finding.text_id(), 0, piece.segment())) return Status::kBufferTooSmall;
    CutText words(labelled.word_split, text);
    Offset word;
    for (uint32_t count = 0; words.next(&word); ++count) {
      if (finding.max_words() != 0 && count == finding.max_words()) encoder.close();
      encoder.word(text, word, piece.segment(), result);
    }
    encoder.take(left);
  }
  result->count = encoder.size();
  result->truncated = result->kept[0] < result->content[0];
  return Status::kOk;
}

}  // namespace bantam::text

#endif  // BANTAM_IF_LINKED(part_Found)
