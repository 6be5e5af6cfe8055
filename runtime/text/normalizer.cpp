#include "text/normalizer.h"

#include "text/utf8.h"

namespace bantam::text {
namespace {

constexpr uint32_t rank_of(uint32_t properties) { return properties >> kRankShift; }

}  // namespace

/// Reads the next code point after cleaning, from *at on; returns false at the end.
bool NormalStream::read(uint32_t* at, Clean* out) const {
  while (*at < end_) {
    const uint32_t begin = *at;
    const CodePoint c = decode_utf8(text_ + begin, end_ - begin);
    *at = begin + c.size;
    uint32_t properties = character_class(c.code);
    uint32_t code = c.code;
    if (rules_.clean_text) {
      if ((properties & kControl) != 0) continue;
      if ((properties & kSpace) != 0) {
        code = ' ';
        properties = kSpace;
      }
    }
    *out = {code, properties, begin, *at};
    return true;
  }
  return false;
}

void NormalStream::enqueue(uint32_t code) {
  if constexpr (!kSmall) {
    if (rules_.lowercase && (character_class(code) & kUpper) != 0) {
      uint32_t lower[kMaxExpansion];
      const uint32_t size = lower_case(code, lower);
      for (uint32_t i = 0; i < size; ++i) queue_[queue_size_++] = lower[i];
      return;
    }
  }
  queue_[queue_size_++] = code;
}

/// expand() with the file's map, which combines lower case and accent stripping.
void NormalStream::expand_small(const Clean& c) {
  if (rules_.strip_accents && (c.properties & kMark) != 0) return;
  uint32_t parts[kMaxExpansion];
  const bool hangul = rules_.strip_accents && is_hangul_syllable(c.code);
  const uint32_t size = hangul ? decompose_hangul(c.code, parts) : rules_.map.find(c.code, parts);
  if (size == 0) queue_[queue_size_++] = c.code;
  for (uint32_t i = 0; i < size; ++i) {
    if (rules_.strip_accents && rank_of(character_class(parts[i])) != 0) {
      lead_[lead_size_++] = parts[i];
    } else {
      queue_[queue_size_++] = parts[i];
    }
  }
}

/// Fills the queue with the expansion of a starter. Nonstarters at the end of its decomposition (musical notes) go to
/// lead_ instead, because following characters may sort before them.
void NormalStream::expand(const Clean& c) {
  queue_at_ = 0;
  queue_size_ = 0;
  lead_size_ = 0;
  char_begin_ = c.begin;
  char_end_ = c.end;
  const bool chinese = rules_.split_chinese && is_chinese(c.code);
  if (chinese) queue_[queue_size_++] = ' ';
  if constexpr (kSmall) {
    expand_small(c);
  } else if (rules_.strip_accents && ((c.properties & kDecomposes) != 0 || is_hangul_syllable(c.code))) {
    uint32_t parts[kMaxExpansion];
    const uint32_t size = decompose_stripped(c.code, parts);
    for (uint32_t i = 0; i < size; ++i) {
      if (rank_of(character_class(parts[i])) != 0) {
        lead_[lead_size_++] = parts[i];
      } else {
        enqueue(parts[i]);
      }
    }
  } else if (!rules_.strip_accents || (c.properties & kMark) == 0) {
    enqueue(c.code);
  }
  if (chinese) queue_[queue_size_++] = ' ';
}

bool NormalStream::next_slow(NormalChar* out) {
  while (true) {
    if (in_run_ && next_in_run(out)) return true;
    Clean c;
    uint32_t at = at_;
    if (!read(&at, &c)) {
      at_ = at;
      return false;
    }
    if (rules_.strip_accents && rank_of(c.properties) != 0) {
      lead_size_ = 0;
      begin_run();
      continue;
    }
    at_ = at;
    if (c.code < 0x80) {
      const bool upper = rules_.lowercase && c.code - 'A' <= 'Z' - 'A';
      *out = {upper ? c.code + 32 : c.code, c.begin, c.end};
      return true;
    }
    expand(c);
    if (lead_size_ > 0) begin_run();
    if (queue_at_ < queue_size_) {
      *out = {queue_[queue_at_++], c.begin, c.end};
      return true;
    }
  }
}

// Canonical reordering sorts each run of nonstarters by combining class, and Hugging Face assigns to the n-th character
// of the sorted run the bytes of the n-th of the unsorted run (a nonstarter from within a decomposition: those of its
// predecessor). Most runs consist only of nonspacing marks, which are removed, so they are skipped at once. The few
// surviving characters are found rank by rank, each with one scan of the run, and a cursor that only moves forward
// finds their bytes: linear in the run, without a buffer for it.

/// Called at the first nonstarter after a starter, or after a starter with a lead. Skips the run if nothing of it
/// survives, else prepares its output.
bool NormalStream::begin_run() {
  run_begin_ = at_;
  run_end_ = at_;
  bool survivors = lead_size_ > 0;
  uint32_t at = at_;
  Clean c;
  while (read(&at, &c) && rank_of(c.properties) != 0) {
    run_end_ = at;
    if ((c.properties & kMark) == 0) survivors = true;
  }
  in_run_ = survivors;
  at_ = run_end_;
  if (!survivors) return false;
  run_rank_ = 0;
  if constexpr (kPlaced) {
    cursor_ = run_begin_;
    cursor_index_ = 0;
    cursor_begin_ = char_begin_;
    cursor_end_ = char_end_;
  }
  begin_rank();
  return true;
}

void NormalStream::begin_rank() {
  scan_ = run_begin_;
  lead_at_ = 0;
  if constexpr (kPlaced) {
    before_ = 0;
    uint32_t at = run_begin_;
    Clean c;
    while (at < run_end_ && read(&at, &c)) {
      if (rank_of(c.properties) < kSurvivorRanks[run_rank_]) ++before_;
    }
  }
}

/// Sets the bytes of character number `index` (from 1) of the run; 0: of the character before it.
void NormalStream::align([[maybe_unused]] uint32_t index, NormalChar* out) {
  if constexpr (!kPlaced) {
    out->begin = out->end = at_;
    return;
  }
  Clean c;
  while (cursor_index_ < index && cursor_ < run_end_ && read(&cursor_, &c)) {
    ++cursor_index_;
    cursor_begin_ = c.begin;
    cursor_end_ = c.end;
  }
  out->begin = cursor_begin_;
  out->end = cursor_end_;
}

bool NormalStream::next_in_run(NormalChar* out) {
  for (; run_rank_ < kSurvivorRankCount;) {
    const uint32_t rank = kSurvivorRanks[run_rank_];
    while (lead_at_ < lead_size_) {
      const uint32_t code = lead_[lead_at_++];
      if (rank_of(character_class(code)) != rank) continue;
      out->code = code;
      align(before_, out);
      return true;
    }
    Clean c;
    while (scan_ < run_end_ && read(&scan_, &c)) {
      if (rank_of(c.properties) != rank) continue;
      ++before_;
      if ((c.properties & kMark) != 0) continue;
      out->code = c.code;
      align(before_, out);
      return true;
    }
    if (++run_rank_ < kSurvivorRankCount) begin_rank();
  }
  in_run_ = false;
  return false;
}

}  // namespace bantam::text
