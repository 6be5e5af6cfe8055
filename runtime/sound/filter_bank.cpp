#include <string.h>

#include "bantam/sound.h"
#include "linked.h"
#include "sound/fourier.h"
#include "sound/tables.h"

#if BANTAM_IF_LINKED(Sound)

namespace bantam {
namespace sound {
namespace {

/// Applies the window, appends zeros, and shifts left so that the largest magnitude is from 2^28 to 2^29. Returns the
/// shift; negative: to the right.
int32_t spread(const int16_t* samples, int32_t* points) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < kSoundWindow; ++i) {
    const uint32_t place = i <= kSoundWindow / 2 ? i : kSoundWindow - i;
    points[i] = samples[i] * int32_t{kTables.window[place]};
    // For a negative number this yields its magnitude minus one, which has the same highest bit unless the magnitude is
    // a power of two.
    bits |= static_cast<uint32_t>(points[i] ^ points[i] >> 31);
  }
  memset(points + kSoundWindow, 0, (kPoints - kSoundWindow) * sizeof(int32_t));
  if (bits == 0) return 0;
  const int32_t shift = __builtin_clz(bits) - 3;
  for (uint32_t i = 0; i < kSoundWindow; ++i) {
    points[i] = shift < 0 ? points[i] >> -shift : static_cast<int32_t>(static_cast<uint32_t>(points[i]) << shift);
  }
  return shift;
}

uint64_t power(int32_t re, int32_t im) {
  return (static_cast<uint64_t>(int64_t{re} * re) + static_cast<uint64_t>(int64_t{im} * im)) >> 15;
}

/// Adds the power of frequency k to its two bands. Band b is sums[b + 1]; the first and the last sum belong to no band.
void add(uint32_t k, uint64_t power, uint64_t* sums) {
  const uint32_t rise = kTables.rise[k];
  sums[kTables.band[k] + 1] += power * rise;
  sums[kTables.band[k]] += power * (32768 - rise);
}

/// Adds the powers weighted by the triangles. z is the transform of the even samples as real parts and the odd ones as
/// imaginary parts. Their separate transforms E and O are (z[k] + z*[256 - k]) / 2 and (z[k] - z*[256 - k]) / 2i; the
/// transform of all samples is E + e^(-2 pi i k / 512) O, and at 256 - k the conjugate of E - e^(-2 pi i k / 512) O.
void add_powers(const int32_t* z, uint64_t* sums) {
  for (uint32_t k = 1; k <= kQuarter; ++k) {
    const int32_t *a = z + 2 * k, *b = z + 2 * (kHalf - k);
    const int32_t e_re = (a[0] + b[0]) >> 1, e_im = (a[1] - b[1]) >> 1;
    const int32_t o_re = (a[1] + b[1]) >> 1, o_im = (b[0] - a[0]) >> 1;
    const Turn w = turn(k);
    const int32_t re = times(o_re, w.cosine) + times(o_im, w.sine);
    const int32_t im = times(o_im, w.cosine) - times(o_re, w.sine);
    add(k, power(e_re + re, e_im + im), sums);
    if (k != kQuarter) add(kHalf - k, power(e_re - re, e_im - im), sums);
  }
}

/// Computes 2^16 log2(x) for x > 0 by linear interpolation in the table, at most 0.0002 too low.
int32_t log2(uint64_t x) {
  const int32_t whole = 63 - __builtin_clzll(x);
  const uint32_t rest = static_cast<uint32_t>(x << (63 - whole) >> 32) << 1;  // bits after the leading 1
  const uint32_t step = rest >> 27, inside = rest >> 11 & 0xFFFF;
  const uint32_t low = kTables.log2[step], high = kTables.log2[step + 1];
  return whole * 65536 + static_cast<int32_t>(low + ((high - low) * inside >> 16));
}

/// Converts a sum to a byte. The sum is scaled by 2^15 (weights) / 2^15 (power), and its amplitudes by 2^(15 + shift) /
/// 256.
uint8_t step_of(uint64_t sum, int32_t shift) {
  constexpr int32_t kFloor = 12, kSteps = 8;
  if (sum == 0) return 0;
  const int32_t steps = kSteps * (log2(sum) - (2 * (shift + 7) + kFloor) * 65536) + 32768;
  if (steps < 0) return 0;
  return steps >> 16 > 255 ? 255 : static_cast<uint8_t>(steps >> 16);
}

}  // namespace
}  // namespace sound

uint32_t FilterBank::take(const int16_t* samples, uint32_t count) {
  const uint32_t room = kSoundWindow - count_;
  if (count > room) count = room;
  memcpy(samples_ + count_, samples, count * sizeof(int16_t));
  count_ += count;
  return count;
}

void FilterBank::row(uint8_t* out) {
  memset(out, 0, kSoundBands);
  if (!has_row()) return;
  uint64_t sums[kSoundBands + 2] = {};
  const int32_t shift = sound::spread(samples_, points_);
  sound::transform(points_);
  sound::add_powers(points_, sums);
  for (uint32_t b = 0; b < kSoundBands; ++b) out[b] = sound::step_of(sums[b + 1], shift);
  count_ = kSoundWindow - kSoundStep;
  memmove(samples_, samples_ + kSoundStep, count_ * sizeof(int16_t));
}

void SoundRows::begin(uint8_t* rows, uint32_t count) {
  bank_.clear();
  next_ = rows;
  left_ = count;
}

bool SoundRows::add(const int16_t* samples, uint32_t count) {
  while (left_ != 0 && count != 0) {
    const uint32_t taken = bank_.take(samples, count);
    samples += taken;
    count -= taken;
    if (!bank_.has_row()) continue;
    bank_.row(next_);
    next_ += kSoundBands;
    --left_;
  }
  return count == 0;
}

void SoundRows::finish() {
  constexpr int16_t kSilence[32] = {};
  while (left_ != 0) add(kSilence, sizeof(kSilence) / sizeof(kSilence[0]));
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Sound)
