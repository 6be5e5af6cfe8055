#include "bantam/guesses.h"

#include "linked.h"

#if BANTAM_IF_LINKED(Contexts)

namespace bantam {
namespace {

/// The number of last tokens that a place must share, and the most that are compared.
constexpr uint32_t kLeastShared = 2, kMostShared = 8;
/// Passes without guesses after n misses in a row: 2^(n - 1) - 1, at most 63.
constexpr uint32_t kMostMisses = 7;
constexpr uint32_t kFirstCount = 4;

/// Returns the number of tokens, at most kMostShared, that ids[0, end) and ids[0, count) have in common at their ends.
uint32_t shared(const int32_t* ids, uint32_t end, uint32_t count) {
  uint32_t i = 0;
  while (i < kMostShared && i < end && ids[end - 1 - i] == ids[count - 1 - i]) ++i;
  return i;
}

}  // namespace

uint32_t guess_repeat(const int32_t* ids, uint32_t count, uint32_t most, int32_t* out) {
  uint32_t best = 0, place = 0;
  // The latest place wins among equals.
  for (uint32_t end = count; end > kLeastShared; --end) {
    const uint32_t found = shared(ids, end - 1, count);
    if (found <= best) continue;
    best = found;
    place = end - 1;
    if (best == kMostShared) break;
  }
  if (best < kLeastShared) return 0;
  if (most > kMostGuesses) most = kMostGuesses;
  // Behind the end, the text is assumed to go on repeating itself.
  for (uint32_t i = 0; i < most; ++i) out[i] = place + i < count ? ids[place + i] : out[place + i - count];
  return most;
}

GuessCount::GuessCount(uint32_t most) : most_(most == 0 ? 1 : most > kMostGuesses ? kMostGuesses : most) {
  count_ = most_ < kFirstCount ? most_ : kFirstCount;
}

uint32_t GuessCount::next() {
  if (wait_ == 0) return count_;
  --wait_;
  return 0;
}

void GuessCount::took(uint32_t guessed, uint32_t kept) {
  if (guessed == 0) return;
  if (kept == 0) {
    if (misses_ < kMostMisses) ++misses_;
    wait_ = (1u << (misses_ - 1)) - 1;
    if (count_ > 1) count_ /= 2;
    return;
  }
  misses_ = 0;
  if (kept < guessed) {
    count_ = kept + 1 < count_ ? count_ - 1 : kept + 1;
  } else if (guessed >= count_) {
    count_ *= 2;
  }
  if (count_ > most_) count_ = most_;
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Contexts)
