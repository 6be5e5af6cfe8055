// A Fourier transform in integer arithmetic: 32-bit numbers, 16-bit sines.
#ifndef BANTAM_SOUND_FOURIER_H_
#define BANTAM_SOUND_FOURIER_H_

#include <stdint.h>

namespace bantam::sound {

/// floor(x w / 2^15), |w| <= 2^15, |x| < 2^30.
inline int32_t times_wide(int32_t x, int32_t w) { return static_cast<int32_t>(int64_t{x} * w >> 15); }
/// The same for cores without 64-bit products: twice the product of the high half of x, plus the carry of the low half.
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

/// Complex transform of 256 points (real and imaginary parts interleaved), divided by 256, in place: sum over n of z[n]
/// e^(-2 pi i k n / 256). Cooley-Tukey, radix 2; halves at each of its 8 steps, so that nothing overflows if the
/// magnitude of every part of z is less than 2^29.
void transform(int32_t* z);

}  // namespace bantam::sound

#endif  // BANTAM_SOUND_FOURIER_H_
