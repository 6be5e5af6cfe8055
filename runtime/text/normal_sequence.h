// A sequence of normalizers as a stream: code point after code point, each with the bytes of the text that it came
// from.
//
// A text is processed in chunks: from one code point up to the next that nothing before it can change (table 0 of
// code_table.h), at most kChunkChars. Each normalizer turns the chunk into the input of the next one. What it cannot
// decide yet, a run of blanks or the beginning of a text to replace, it keeps for the next chunk.
#ifndef BANTAM_TEXT_NORMAL_SEQUENCE_H_
#define BANTAM_TEXT_NORMAL_SEQUENCE_H_

#include <stdint.h>

#include "bantam/tokenizer.h"
#include "linked.h"
#include "text/charsmap.h"
#include "text/check.h"
#include "text/code_table.h"
#include "text/normalizer.h"

namespace bantam::text {

constexpr uint32_t kMaxNormalizers = 12;
/// Code points of the text in a chunk; longer runs of combining marks are reordered in parts.
constexpr uint32_t kChunkChars = 32;
/// Most code points of a text to replace, and of the replacement or the text to prepend.
constexpr uint32_t kMaxReplaced = 4;
constexpr uint32_t kMaxContent = 8;
/// True if this build has normalizers that replace code points (map, form, charsmap, replace, ideographs): each may
/// become several. Other normalizers strip a text, or prepend content.
constexpr bool kReplaces = linked::is(linked::links::normalizer_map) || linked::is(linked::links::normalizer_form) ||
                           linked::is(linked::links::normalizer_charsmap) ||
                           linked::is(linked::links::normalizer_replace) ||
                           linked::is(linked::links::normalizer_ideographs);
/// Most code points that a chunk may become; more are dropped.
constexpr uint32_t kChunkRoom = kReplaces                 ? kChunkChars * kMaxParts
                                : linked::kNormalSequence ? kChunkChars + kMaxNormalizers * kMaxContent
                                                          : kChunkChars;
/// Most code points that a charsmap may drop at the beginning of a text while all later offsets still equal Hugging
/// Face's, which are then that many code points too early.
constexpr uint32_t kMaxLag = 16;

/// The normalizers of a tokenizer; none if it has BERT's or no normalizer.
struct NormalSequence {
  const flatbuffers::Vector<flatbuffers::Offset<fb::Normalizer>>* stages;
  const uint8_t* forms;
  const uint32_t* plain;
  Charsmap charsmap;
  bool changes_edges;   // strips or prepends: the beginning of a text is not plain
  bool blanks;          // a single blank between plain characters is kept
  uint32_t strips_end;  // normalizers up to the last one that strips the end
  uint32_t drops_text;  // normalizers up to the one that drops texts that are a single run

  bool is_there() const { return linked::kNormalSequence && stages != nullptr; }
  bool is_plain(uint32_t byte) const {
    return byte < 0x80 && (!is_there() || (plain[byte / 32] >> byte % 32 & 1) != 0);
  }

  /// Returns true if a single blank between plain characters is kept.
  bool keeps_blanks() const { return !is_there() || blanks; }

  /// `tokenizer` must be verified.
  static NormalSequence of(const fb::Tokenizer& tokenizer, const uint8_t* data);
};

/// Verifies the kinds, settings and tables of a sequence of normalizers.
Status verify_sequence(Check& check);

class SequenceStream {
 public:
  /// Reads text[begin, end), where `end` is a result of stripped_end(). `inside`: the text has a part before `begin`,
  /// which another stream returned; that stream was settled there.
  SequenceStream(const NormalSequence& rules, const uint8_t* text, uint32_t begin, uint32_t end, bool inside);
  SequenceStream(const SequenceStream& other) { copy(other); }
  SequenceStream& operator=(const SequenceStream& other) {
    if (this != &other) copy(other);
    return *this;
  }

  /// Returns the end of text[begin, end) without the code points that `strip`, or a rule that drops whole texts,
  /// removes from its end. O(bytes removed).
  static uint32_t stripped_end(const NormalSequence& rules, const uint8_t* text, uint32_t begin, uint32_t end);

  /// Returns the next code point; false at the end of the text, `out` is then unchanged.
  bool next(NormalChar* out) {
    if (queue_at_ < queue_size_) {
      *out = queue_[queue_at_++];
      return true;
    }
    State& s = state_;
    if (s.quiet && s.at < s.end && s.rules->is_plain(s.text[s.at]) &&
        (s.at + 1 == s.end || s.text[s.at + 1] - 0x20u < 0x5F)) {
      *out = {s.text[s.at], s.at, s.at + 1};
      ++s.at;
      return true;
    }
    return next_slow(out);
  }

  /// Returns true if all code points of the text before position() have been returned, and later ones do not depend on
  /// that text.
  bool is_settled() const { return queue_at_ == queue_size_ && state_.quiet; }
  uint32_t position() const { return state_.at; }
  /// Returns true if offsets are those of earlier code points, and remain so to the end.
  bool lags() const { return state_.lag > 0; }

 private:
  /// The state that a normalizer keeps for the next chunk.
  struct Carry {
    bool begun = false;                  // strip, prepend: past the beginning of the text
    uint32_t count = 0;                  // replace: code points of the run, at most `least`, or of `kept`
    NormalChar kept[kMaxReplaced] = {};  // the last one of the run, or the beginning of a possible match
  };
  struct State {
    const NormalSequence* rules = nullptr;
    const uint8_t* text = nullptr;
    uint32_t at = 0;
    uint32_t end = 0;
    bool quiet = true;  // no state is kept
    bool finished = false;
    bool mapped = false;  // charsmap: it has returned a code point
    uint32_t lag = 0;     // inputs whose bytes are assigned to later outputs
    Offset late[kMaxLag] = {};
    Carry carries[linked::kNormalSequence ? kMaxNormalizers : 1];
  };
  struct Chunk {
    uint32_t size = 0;
    NormalChar chars[kChunkRoom];
    void add(const NormalChar& c) {
      if (size < kChunkRoom) chars[size++] = c;
    }
  };
  struct Changes;

  static bool becomes_run(const NormalSequence& rules, const uint8_t* text, uint32_t begin, uint32_t end,
                          uint32_t stages, bool inside, uint32_t code);
  void copy(const SequenceStream& other);
  bool next_slow(NormalChar* out);
  void read(Chunk* out);
  void process(Chunk* chunk, Chunk* other, uint32_t stages, bool last);
  void apply(uint32_t stage, const Chunk& in, Chunk* out, bool last);
  void map(const fb::Normalizer& rule, const Chunk& in, Chunk* out) const;
  void form(const fb::Normalizer& rule, const Chunk& in, Chunk* out);
  void replace_by_charsmap(const Chunk& in, Chunk* out);
  static void replace_text(const fb::Normalizer& rule, const Chunk& in, Chunk* out, bool last, Carry* carry);
  static void replace_runs(const fb::Normalizer& rule, const Chunk& in, Chunk* out, bool last, Carry* carry);
  bool is_quiet() const;

  State state_;
  uint32_t queue_at_ = 0;
  uint32_t queue_size_ = 0;
  NormalChar queue_[kChunkRoom];
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_NORMAL_SEQUENCE_H_
