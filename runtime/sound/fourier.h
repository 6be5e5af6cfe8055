// A Fourier transform in integers: 32-bit numbers, sines of 16 bits.
#ifndef BANTAM_SOUND_FOURIER_H_
#define BANTAM_SOUND_FOURIER_H_

#include <stdint.h>

namespace bantam::sound {

/// floor(x w / 2^15), |w| <= 2^15, |x| < 2^30.
inline int32_t times_wide(int32_t x, int32_t w) { return static_cast<int32_t>(int64_t{x} * w >> 15); }
/// The same where no product has 64 bits: of the high half of x, twice, and what the low half carries.
inline int32_t times_in_halves(int32_t x, int32_t w) { return (x >> 16) * w * 2 + ((x & 0xFFFF) * w >> 15); }
inline int32_t times(int32_t x, int32_t w) {
#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
  return times_in_halves(x, w);
#else
  return times_wide(x, w);
#endif
}

/// Cosine and sine of 2 pi k / 512, times 2^15; k <= 256.
struct Turn {
  int32_t cosine, sine;
};
Turn turn(uint32_t k);

/// The complex transform of 256 points (real and imaginary part in turn), divided by 256, in place: sum over n of
/// z[n] e^(-2 pi i k n / 256). Cooley and Tukey's, radix 2, halving at each of its 8 steps, so that nothing overflows where no part of z
/// is 2^29 or more away from 0.
void transform(int32_t* z);

}  // namespace bantam::sound

#endif  // BANTAM_SOUND_FOURIER_H_
