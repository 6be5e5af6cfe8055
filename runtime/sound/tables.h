// Constants of the filter bank, computed at compile time with additions, multiplications and divisions of IEEE doubles,
// rounded to integers, so that every compiler computes the same ones.
#ifndef BANTAM_SOUND_TABLES_H_
#define BANTAM_SOUND_TABLES_H_

#include <stdint.h>

#include "bantam/sound.h"

namespace bantam::sound {

/// Points of the real transform, and of the complex one that computes it.
constexpr uint32_t kPoints = 512, kHalf = kPoints / 2, kQuarter = kPoints / 4;
constexpr double kPi = 3.14159265358979323846;
constexpr double kLowest = 20, kHighest = 8000;  // Hz
constexpr uint32_t kLogSteps = 32;

/// Taylor series; |x| <= pi.
constexpr double sine(double x) {
  double term = x, sum = x;
  for (int i = 1; i < 16; ++i) {
    term *= -x * x / (2 * i * (2 * i + 1));
    sum += term;
  }
  return sum;
}

/// Natural logarithm of x >= 1: halves x until it is less than 2, then computes twice the series of the inverse
/// hyperbolic tangent of (x - 1) / (x + 1).
constexpr double logarithm(double x) {
  constexpr double kLn2 = 0.69314718055994530942;
  double sum = 0;
  for (; x >= 2; x /= 2) sum += kLn2;
  const double t = (x - 1) / (x + 1);
  double power = t;
  for (int i = 1; i < 60; i += 2) {
    sum += 2 * power / i;
    power *= t * t;
  }
  return sum;
}

/// The mel scale of Stevens, Volkmann and Newman, in O'Shaughnessy's formula (1987).
constexpr double mel(double hertz) { return 1127 * logarithm(1 + hertz / 700); }

struct Tables {
  uint16_t window[kSoundWindow / 2 + 1];  // 2^15 (0.5 - 0.5 cos(2 pi i / 480)); the other half is its mirror image
  uint16_t sine[kQuarter + 1];            // 2^15 sin(2 pi i / 512)
  // for each frequency the band in which it is on the rising edge; it is on the falling edge of the band below
  uint8_t band[kHalf];
  uint16_t rise[kHalf];          // 2^15 times its weight in that band; the band below gets the rest
  uint32_t log2[kLogSteps + 1];  // 2^16 log2(1 + i / 32)
};

constexpr Tables make_tables() {
  Tables t = {};
  const auto rounded = [](double x) { return static_cast<uint32_t>(x + 0.5); };
  const auto fifteen = [&](double x) { return static_cast<uint16_t>(rounded(32768 * x)); };
  for (uint32_t i = 0; i <= kSoundWindow / 2; ++i) {
    const double half = sine(kPi * i / kSoundWindow);  // (1 - cos x) / 2 = sin(x / 2)^2
    t.window[i] = fifteen(half * half);
  }
  for (uint32_t i = 0; i <= kQuarter; ++i) t.sine[i] = fifteen(sine(2 * kPi * i / kPoints));
  const double lowest = mel(kLowest), width = (mel(kHighest) - lowest) / (kSoundBands + 1);
  for (uint32_t k = 1; k < kHalf; ++k) {
    const double place = (mel(k * (double{kSoundRate} / kPoints)) - lowest) / width;
    t.band[k] = static_cast<uint8_t>(place);
    t.rise[k] = fifteen(place - t.band[k]);
  }
  for (uint32_t i = 0; i <= kLogSteps; ++i) {
    t.log2[i] = rounded(65536 * logarithm(1 + double{1} * i / kLogSteps) / logarithm(2));
  }
  return t;
}

extern const Tables kTables;

}  // namespace bantam::sound

#endif  // BANTAM_SOUND_TABLES_H_
