#include "text/normal_sequence.h"

#include <string.h>

#include "text/tables.h"
#include "text/utf8.h"

namespace bantam::text {
namespace {

using fb::NormalizerKind;

constexpr bool is_linked(NormalizerKind kind) { return linked::normalizer(static_cast<uint32_t>(kind)); }

bool is_white(uint32_t code) { return (character_class(code) & kSpace) != 0; }

/// Represents runs of any white space in place of a code point.
constexpr uint32_t kAnyWhite = 0xFFFFFFFF;
bool is_in_run(uint32_t code, uint32_t of) { return of == kAnyWhite ? is_white(code) : code == of; }

/// Decodes at most `most` code points of a rule's text and returns their number.
uint32_t codes_of(const flatbuffers::String* text, uint32_t most, uint32_t* out) {
  uint32_t count = 0;
  const uint32_t size = text == nullptr ? 0 : text->size();
  for (uint32_t at = 0; at < size && count < most;) {
    const CodePoint c = decode_utf8(reinterpret_cast<const uint8_t*>(text->c_str()) + at, size - at);
    out[count++] = c.code;
    at += c.size;
  }
  return count;
}

/// Returns true if the rule drops texts that consist of a single run.
bool drops_whole(const fb::Normalizer& rule) { return rule.kind() == NormalizerKind::replace && rule.left(); }

/// Returns the code point whose runs such a rule replaces; *behind: the code point that must follow the runs, kAnyWhite
/// if any or none may follow.
uint32_t run_of(const fb::Normalizer& rule, uint32_t* behind) {
  uint32_t codes[2] = {kAnyWhite, kAnyWhite};
  codes_of(rule.text(), 2, codes);
  *behind = codes[1];
  return codes[0];
}

/// Adds the content of a rule to *out; each code point gets the bytes of `where`.
template <typename Out>
void add_content(const fb::Normalizer& rule, const NormalChar& where, Out* out) {
  uint32_t content[kMaxContent];
  const uint32_t size = codes_of(rule.content(), kMaxContent, content);
  for (uint32_t i = 0; i < size; ++i) out->add({content[i], where.begin, where.end});
}

}  // namespace

NormalSequence NormalSequence::of(const fb::Tokenizer& tokenizer, const uint8_t* data) {
  NormalSequence result = {};
  const auto* stages = tokenizer.normalizers();
  if (!linked::kNormalSequence || stages == nullptr || stages->size() == 0) return result;
  if (stages->Get(0)->kind() == NormalizerKind::bert) return result;
  result.stages = stages;
  result.forms = data + find_blob(tokenizer, fb::BlobName::forms)->offset();
  result.blanks = reinterpret_cast<const FormsHeader*>(result.forms)->blanks == 1;
  result.plain = reinterpret_cast<const FormsHeader*>(result.forms)->plain;
  for (uint32_t i = 0; i < stages->size(); ++i) {
    const fb::Normalizer& rule = *stages->Get(i);
    const bool strips = rule.kind() == NormalizerKind::strip;
    result.changes_edges = result.changes_edges || (strips && rule.left()) || rule.kind() == NormalizerKind::prepend;
    if (strips && rule.right()) result.strips_end = i + 1;
    if (is_linked(NormalizerKind::replace) && drops_whole(rule)) result.drops_text = i + 1;
    if (rule.kind() == NormalizerKind::charsmap) {
      const fb::Blob& blob = *find_blob(tokenizer, fb::BlobName::charsmap);
      result.charsmap = Charsmap(data + blob.offset(), static_cast<uint32_t>(blob.size()));
    }
  }
  return result;
}

Status verify_sequence(Check& check) {
  const auto& stages = *check.tokenizer.normalizers();
  uint32_t tables = 0;
  if (stages.size() > kMaxNormalizers) return check.fail("more than 12 normalisers", Status::kUnsupported);
  for (const fb::Normalizer* rule : stages) {
    if (rule->kind() == NormalizerKind::bert || rule->kind() > NormalizerKind::ideographs) {
      return check.fail("a normaliser in a row is of a kind that is not executed there", Status::kUnsupported);
    }
    if (!is_linked(rule->kind())) return check.fail("this kind of normaliser is not linked", Status::kOpNotLinked);
  }
  if (const Status status = verify_forms(check, &tables); status != Status::kOk) return status;
  bool has_charsmap = false;
  bool drops_text = false;
  for (const fb::Normalizer* rule : stages) {
    const auto kind = rule->kind();
    if ((kind == NormalizerKind::map || kind == NormalizerKind::form) && rule->table() >= tables) {
      return check.fail("a normaliser names a table that is not there");
    }
    uint32_t codes[kMaxContent + 1];
    const uint32_t size = codes_of(rule->text(), kMaxContent + 1, codes);
    if (kind == NormalizerKind::replace &&
        (size > kMaxReplaced || rule->least() > kMaxReplaced || (rule->least() == 0 ? size == 0 : size > 2))) {
      return check.fail("a normaliser replaces nothing, or more than this version takes", Status::kUnsupported);
    }
    if (kind == NormalizerKind::replace && (rule->left() || rule->right())) {
      const bool empty = rule->content() == nullptr || rule->content()->size() == 0;
      if (!rule->left() || !rule->right() || rule->least() != 1 || size != 1 || !empty || drops_text) {
        return check.fail("a normaliser replaces at the ends of texts otherwise than this version does",
                          Status::kUnsupported);
      }
      drops_text = true;
    }
    if (codes_of(rule->content(), kMaxContent + 1, codes) > kMaxContent) {
      return check.fail("a normaliser puts in more than 8 code points", Status::kUnsupported);
    }
    if (kind == NormalizerKind::charsmap && has_charsmap) return check.fail("there are two charsmaps");
    has_charsmap = has_charsmap || kind == NormalizerKind::charsmap;
  }
  if (!has_charsmap) return Status::kOk;
  const fb::Blob* blob = find_blob(check.tokenizer, fb::BlobName::charsmap);
  if (blob == nullptr || blob->size() < 4 || blob->size() > 0xFFFFFFFF) {
    return check.fail("the charsmap is not there or cut short");
  }
  const uint32_t array = *reinterpret_cast<const uint32_t*>(check.data + blob->offset());
  return array % 4 == 0 && array <= blob->size() - 4 ? Status::kOk
                                                     : check.fail("the charsmap is not of the size that it says");
}

/// Code points with their alignment to the preceding ones: 0 takes the bytes of the next input; 1 is inserted, with the
/// bytes of the last input taken; -n takes the bytes of the next input and skips n more inputs. This is Hugging Face's
/// alignment, which need not be the true origin of a code point.
struct SequenceStream::Changes {
  struct Char {
    uint32_t code;
    uint8_t rank;  // combining class
    int16_t change;
  };
  uint32_t size = 0;
  Char chars[kChunkRoom];

  void add(uint32_t code, uint32_t rank, int32_t change) {
    if (size < kChunkRoom) chars[size++] = {code, static_cast<uint8_t>(rank), static_cast<int16_t>(change)};
  }

  /// Aligns to the inputs `late[0, lag)`, followed by those of `in`. Returns the number of inputs that were not taken.
  uint32_t align(const Offset* late, uint32_t lag, const Chunk& in, Chunk* out) const {
    const uint32_t inputs = lag + in.size;
    const auto bytes_of = [&](uint32_t index) {
      if (index < lag) return late[index];
      return index - lag < in.size ? Offset{in.chars[index - lag].begin, in.chars[index - lag].end} : Offset{};
    };
    uint32_t taken = 0;
    for (uint32_t i = 0; i < size; ++i) {
      const bool takes = chars[i].change <= 0;
      const uint32_t index = takes ? taken : taken - (taken > 0 ? 1 : 0);
      const Offset where = bytes_of(index < inputs || inputs == 0 ? index : inputs - 1);
      out->add({chars[i].code, where.begin, where.end});
      if (takes) taken += 1 + static_cast<uint32_t>(-chars[i].change);
    }
    return taken < inputs ? inputs - taken : 0;
  }
};

SequenceStream::SequenceStream(const NormalSequence& rules, const uint8_t* text, uint32_t begin, uint32_t end,
                               bool inside) {
  state_.rules = &rules;
  state_.text = text;
  state_.at = begin;
  state_.end = end;
  state_.mapped = inside;
  state_.quiet = inside || !rules.changes_edges;
  for (Carry& carry : state_.carries) carry.begun = inside;
}

void SequenceStream::copy(const SequenceStream& other) {
  state_ = other.state_;
  queue_at_ = 0;
  queue_size_ = other.queue_size_ - other.queue_at_;
  if (queue_size_ > 0) memcpy(queue_, other.queue_ + other.queue_at_, queue_size_ * sizeof(queue_[0]));
}

/// Returns true if the first `stages` normalizers turn text[begin, end) into a single run of `code`.
bool SequenceStream::becomes_run(const NormalSequence& rules, const uint8_t* text, uint32_t begin, uint32_t end,
                                 uint32_t stages, bool inside, uint32_t code) {
  SequenceStream stream(rules, text, begin, end, inside);
  while (stream.state_.at < end) {
    Chunk chunk;
    Chunk other;
    stream.read(&chunk);
    stream.process(&chunk, &other, stages, stream.state_.at == end);
    for (uint32_t i = 0; i < chunk.size; ++i) {
      if (!is_in_run(chunk.chars[i].code, code)) return false;
    }
  }
  return true;
}

uint32_t SequenceStream::stripped_end(const NormalSequence& rules, const uint8_t* text, uint32_t begin, uint32_t end) {
  if constexpr (is_linked(NormalizerKind::strip)) {
    while (rules.is_there() && rules.strips_end > 0 && end > begin) {
      const CodeTable starts = code_table(rules.forms, 0);
      uint32_t at = end;
      uint32_t stop = end;
      // Take one code point that no grapheme contains, or all from one that nothing before it can change. If a chunk
      // leaves some output, its end is stripped within it.
      for (uint32_t i = 0; i < kChunkChars && at > begin && stop == end; ++i) {
        uint32_t before = at - 1;
        while (before > begin && at - before < 4 && goes_on_code(text[before])) --before;
        const CodePoint c = decode_utf8(text + before, at - before);
        if (c.size != at - before) break;
        at = before;
        const uint32_t bits = starts.class_of(c.code);
        const bool is_start = (bits & kGoesOn) == 0 || at == begin;
        if (!is_start && (i > 0 || (bits & kExtends) != 0)) continue;
        if (becomes_run(rules, text, at, end, rules.strips_end - 1, true, kAnyWhite)) stop = at;
        if (is_start) break;
      }
      if (stop == end) break;
      end = stop;
    }
  }
  if constexpr (is_linked(NormalizerKind::replace)) {
    if (rules.is_there() && rules.drops_text > 0 && end > begin) {
      uint32_t behind = 0;
      const uint32_t of = run_of(*rules.stages->Get(rules.drops_text - 1), &behind);
      if (becomes_run(rules, text, begin, end, rules.drops_text - 1, false, of)) return begin;
    }
  }
  return end;
}

bool SequenceStream::next_slow(NormalChar* out) {
  State& s = state_;
  if (!s.rules->is_there()) {
    if (s.at == s.end) return false;
    const CodePoint c = decode_utf8(s.text + s.at, s.end - s.at);
    *out = {c.code, s.at, s.at + c.size};
    s.at += c.size;
    return true;
  }
  if constexpr (linked::kNormalSequence) {
    while (!s.finished) {
      Chunk chunk;
      Chunk other;
      read(&chunk);
      s.finished = s.at == s.end;
      process(&chunk, &other, s.rules->stages->size(), s.finished);
      s.quiet = is_quiet();
      if (chunk.size == 0) continue;
      memcpy(queue_, chunk.chars, chunk.size * sizeof(queue_[0]));
      queue_at_ = 1;
      queue_size_ = chunk.size;
      *out = queue_[0];
      return true;
    }
  }
  return false;
}

bool SequenceStream::is_quiet() const {
  if (state_.lag > 0) return false;
  for (uint32_t i = 0; i < state_.rules->stages->size(); ++i) {
    const fb::Normalizer& rule = *state_.rules->stages->Get(i);
    const bool waits = (rule.kind() == NormalizerKind::strip && rule.left()) || rule.kind() == NormalizerKind::prepend;
    if ((waits && !state_.carries[i].begun) || state_.carries[i].count > 0) return false;
  }
  return true;
}

/// Reads code points up to the next one that nothing before it can change.
void SequenceStream::read(Chunk* out) {
  State& s = state_;
  const CodeTable starts = code_table(s.rules->forms, 0);
  while (s.at < s.end && out->size < kChunkChars) {
    const CodePoint c = decode_utf8(s.text + s.at, s.end - s.at);
    if (out->size > 0 && (starts.class_of(c.code) & kGoesOn) == 0) break;
    out->add({c.code, s.at, s.at + c.size});
    s.at += c.size;
  }
}

/// Passes *chunk through the first `stages` normalizers and leaves the result in *chunk; *other is working memory.
void SequenceStream::process(Chunk* chunk, Chunk* other, uint32_t stages, bool last) {
  for (uint32_t i = 0; i < stages; ++i) {
    other->size = 0;
    apply(i, *chunk, other, last);
    memcpy(chunk->chars, other->chars, other->size * sizeof(chunk->chars[0]));
    chunk->size = other->size;
  }
}

void SequenceStream::apply(uint32_t stage, const Chunk& in, Chunk* out, bool last) {
  const fb::Normalizer& rule = *state_.rules->stages->Get(stage);
  Carry& carry = state_.carries[stage];
  switch (rule.kind()) {
    case NormalizerKind::map:
      if constexpr (is_linked(NormalizerKind::map)) map(rule, in, out);
      return;
    case NormalizerKind::form:
      if constexpr (is_linked(NormalizerKind::form)) form(rule, in, out);
      return;
    case NormalizerKind::charsmap:
      if constexpr (is_linked(NormalizerKind::charsmap)) replace_by_charsmap(in, out);
      return;
    case NormalizerKind::replace:
      if constexpr (is_linked(NormalizerKind::replace)) {
        if (drops_whole(rule)) {  // done in advance
          for (uint32_t i = 0; i < in.size; ++i) out->add(in.chars[i]);
        } else if (rule.least() > 0) {
          replace_runs(rule, in, out, last, &carry);
        } else {
          replace_text(rule, in, out, last, &carry);
        }
      }
      return;
    case NormalizerKind::strip:  // most of the end is stripped in advance
      for (uint32_t i = 0; i < in.size; ++i) {
        carry.begun = carry.begun || !rule.left() || !is_white(in.chars[i].code);
        if (carry.begun) out->add(in.chars[i]);
      }
      while (rule.right() && last && out->size > 0 && is_white(out->chars[out->size - 1].code)) --out->size;
      return;
    case NormalizerKind::prepend:
      if (in.size > 0 && !carry.begun) add_content(rule, in.chars[0], out);
      carry.begun = carry.begun || in.size > 0;
      for (uint32_t i = 0; i < in.size; ++i) out->add(in.chars[i]);
      return;
    case NormalizerKind::ideographs:
      for (uint32_t i = 0; is_linked(NormalizerKind::ideographs) && i < in.size; ++i) {
        const NormalChar blank = {' ', in.chars[i].begin, in.chars[i].end};
        const bool apart = is_chinese(in.chars[i].code);
        if (apart) out->add(blank);
        out->add(in.chars[i]);
        if (apart) out->add(blank);
      }
      return;
    case NormalizerKind::bert:
      return;
  }
}

void SequenceStream::map(const fb::Normalizer& rule, const Chunk& in, Chunk* out) const {
  const CodeTable table = code_table(state_.rules->forms, rule.table());
  for (uint32_t i = 0; i < in.size; ++i) {
    const NormalChar& c = in.chars[i];
    const uint32_t entry = table.entry(c.code);
    const uint32_t count = entry >> 8 & 31;
    if (count == kStaysItself) out->add(c);
    for (uint32_t k = 0; k < count && count != kStaysItself; ++k) {
      out->add({table.codes[(entry >> 13) + k], c.begin, c.end});
    }
  }
}

namespace {

constexpr uint32_t kLead = 0x1100;  // of Hangul syllables; The Unicode Standard, section 3.12
constexpr uint32_t kVowel = 0x1161;
constexpr uint32_t kTail = 0x11A7;

uint32_t compose(const CodeTable& table, uint32_t first, uint32_t second) {
  if (first - kLead < 19 && second - kVowel < 21) return 0xAC00 + ((first - kLead) * 21 + second - kVowel) * 28;
  if (is_hangul_syllable(first) && (first - 0xAC00) % 28 == 0 && second - kTail - 1 < 27) return first + second - kTail;
  return table.compose(first, second);
}

/// Sorts adjacent nonstarters by their combining classes.
template <typename Char>
void order(Char* chars, uint32_t size) {
  for (uint32_t i = 1; i < size; ++i) {
    const Char c = chars[i];
    uint32_t at = i;
    for (; c.rank != 0 && at > 0 && chars[at - 1].rank > c.rank; --at) chars[at] = chars[at - 1];
    chars[at] = c;
  }
}

/// Composes in place; returns the number of remaining code points.
template <typename Char>
uint32_t compose_all(const CodeTable& table, Char* chars, uint32_t size) {
  uint32_t kept = 0;
  uint32_t starter = 0;
  bool has_starter = false;
  for (uint32_t i = 0; i < size; ++i) {
    const Char c = chars[i];
    const uint32_t before = kept > 0 ? chars[kept - 1].rank : 0;
    // Nothing lies between the starter and c, or only code points with a lower class.
    const bool reaches = has_starter && (starter + 1 == kept || before < c.rank);
    const uint32_t whole = reaches ? compose(table, chars[starter].code, c.code) : 0;
    if (whole != 0) {
      chars[starter].code = whole;
      chars[starter].change = static_cast<int16_t>(chars[starter].change + c.change - 1);
      continue;
    }
    if (c.rank == 0) {
      starter = kept;
      has_starter = true;
    }
    chars[kept++] = c;
  }
  return kept;
}

}  // namespace

void SequenceStream::form(const fb::Normalizer& rule, const Chunk& in, Chunk* out) {
  const CodeTable table = code_table(state_.rules->forms, rule.table());
  Changes changes;
  for (uint32_t i = 0; i < in.size; ++i) {
    const uint32_t code = in.chars[i].code;
    uint32_t hangul[kMaxExpansion];
    const uint32_t* parts = hangul;
    uint32_t count = 0;
    if (is_hangul_syllable(code)) {
      count = decompose_hangul(code, hangul);
    } else if (const uint32_t entry = table.entry(code); (entry >> 8 & 31) != kStaysItself) {
      count = entry >> 8 & 31;
      parts = table.codes + (entry >> 13);
    } else {
      hangul[0] = code;
      count = 1;
    }
    for (uint32_t k = 0; k < count; ++k) changes.add(parts[k], table.class_of(parts[k]), k > 0 ? 1 : 0);
  }
  order(changes.chars, changes.size);
  if (rule.compose()) changes.size = compose_all(table, changes.chars, changes.size);
  changes.align(nullptr, 0, in, out);
}

void SequenceStream::replace_by_charsmap(const Chunk& in, Chunk* out) {
  const NormalSequence& rules = *state_.rules;
  const CodeTable starts = code_table(rules.forms, 0);
  State& s = state_;
  Changes changes;
  uint32_t skipped = 0;  // inputs dropped before this chunk had any output
  // `old` inputs become the string; if it is empty, the preceding output takes them.
  const auto put = [&](const Charsmap::Found& found, uint32_t old) {
    const uint32_t from = changes.size;
    for (uint32_t at = 0; at < found.size;) {
      const CodePoint c = decode_utf8(found.text + at, found.size - at);
      changes.add(c.code, 0, 0);
      at += c.size;
    }
    const uint32_t made = changes.size - from;
    for (uint32_t k = old; k < made; ++k) changes.chars[from + k].change = 1;
    if (made >= old) return;
    if (changes.size > 0) {
      auto& last = changes.chars[changes.size - 1];
      last.change = static_cast<int16_t>(last.change - static_cast<int32_t>(old - made));
    } else if (s.mapped) {
      skipped += old;
    }
  };
  for (uint32_t i = 0; i < in.size;) {
    uint8_t bytes[8];
    uint32_t size = encode_utf8(in.chars[i].code, bytes);
    uint32_t end = i + 1;
    bool small = true;
    for (; end < in.size; ++end) {
      const uint32_t before = in.chars[end - 1].code;
      const uint32_t code = in.chars[end].code;
      const bool newline = before == '\r' && code == '\n';
      const bool joins = (starts.class_of(code) & kExtends) != 0 && (starts.class_of(before) & kAlone) == 0;
      if (!newline && !joins) break;
      uint8_t next[4];
      const uint32_t more = encode_utf8(code, next);
      small = small && size + more < 6;
      if (small) memcpy(bytes + size, next, more);
      if (small) size += more;
    }
    const Charsmap::Found whole = small ? rules.charsmap.find(bytes, size) : Charsmap::Found{};
    if (whole.text != nullptr) {
      put(whole, end - i);
      i = end;
    }
    for (; i < end; ++i) {
      const Charsmap::Found found = rules.charsmap.find(bytes, encode_utf8(in.chars[i].code, bytes));
      if (found.text != nullptr) {
        put(found, 1);
      } else {
        changes.add(in.chars[i].code, 0, 0);
      }
    }
  }
  // No output takes inputs that were dropped before this text's first output: all outputs have the bytes of earlier
  // inputs.
  Offset late[kMaxLag + kChunkRoom];
  uint32_t inputs = 0;
  for (uint32_t i = 0; i < s.lag; ++i) late[inputs++] = s.late[i];
  for (uint32_t i = 0; i < in.size; ++i) late[inputs++] = {in.chars[i].begin, in.chars[i].end};
  skipped = skipped < inputs ? skipped : inputs;
  const uint32_t left = changes.align(late + skipped, inputs - skipped, {}, out);
  s.mapped = s.mapped || changes.size > 0;
  s.lag = left < kMaxLag ? left : kMaxLag;
  for (uint32_t i = 0; i < s.lag; ++i) s.late[i] = late[inputs - s.lag + i];
}

void SequenceStream::replace_text(const fb::Normalizer& rule, const Chunk& in, Chunk* out, bool last, Carry* carry) {
  uint32_t text[kMaxReplaced];
  const uint32_t size = codes_of(rule.text(), kMaxReplaced, text);
  for (uint32_t i = 0; i < in.size; ++i) {
    carry->kept[carry->count++] = in.chars[i];
    for (uint32_t fits = 0; fits < carry->count;) {
      if (carry->kept[fits].code == text[fits]) {
        ++fits;
        continue;
      }
      // The kept code points do not begin the text to replace: the first one is passed on, and the rest is compared
      // again.
      out->add(carry->kept[0]);
      --carry->count;
      memmove(carry->kept, carry->kept + 1, carry->count * sizeof(carry->kept[0]));
      fits = 0;
    }
    if (carry->count < size) continue;
    add_content(rule, carry->kept[size - 1], out);
    carry->count = 0;
  }
  for (uint32_t i = 0; last && i < carry->count; ++i) out->add(carry->kept[i]);
  if (last) carry->count = 0;
}

void SequenceStream::replace_runs(const fb::Normalizer& rule, const Chunk& in, Chunk* out, bool last, Carry* carry) {
  uint32_t behind = 0;
  const uint32_t of = run_of(rule, &behind);
  const bool alone = behind == kAnyWhite;
  // A run is kept until it is long enough; after that its length no longer matters.
  const auto end_run = [&] {
    if (alone && carry->count >= rule.least()) {
      add_content(rule, carry->kept[(rule.least() - 1) % kMaxReplaced], out);
    } else {
      for (uint32_t k = 0; k < carry->count; ++k) out->add(carry->kept[k % kMaxReplaced]);
    }
    carry->count = 0;
  };
  for (uint32_t i = 0; i < in.size; ++i) {
    const NormalChar& c = in.chars[i];
    if (is_in_run(c.code, of)) {
      if (carry->count < rule.least()) ++carry->count;
      carry->kept[(carry->count - 1) % kMaxReplaced] = c;
    } else if (!alone && carry->count > 0 && c.code == behind) {
      add_content(rule, c, out);
      carry->count = 0;
    } else {
      if (carry->count > 0) end_run();
      out->add(c);
    }
  }
  if (last && carry->count > 0) end_run();
}

}  // namespace bantam::text
