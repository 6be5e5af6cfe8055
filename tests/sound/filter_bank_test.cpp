// The filter bank against its formula in double precision.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bantam/sound.h"
#include "sound/fourier.h"
#include "sound/tables.h"

namespace bantam {
namespace {

const double kPi = std::acos(-1.0);

double mel(double hertz) { return 1127 * std::log(1 + hertz / 700); }

/// Returns the sums under the triangles of bantam/sound.h by their definition: a transform of 512 terms, and triangles
/// given by their three corners.
std::vector<double> sums_of(const int16_t* samples) {
  std::vector<double> sums(kSoundBands);
  const double lowest = mel(20), width = (mel(8000) - lowest) / (kSoundBands + 1);
  for (uint32_t k = 1; k < 256; ++k) {
    double re = 0, im = 0;
    for (uint32_t n = 0; n < kSoundWindow; ++n) {
      const double x = samples[n] * (0.5 - 0.5 * std::cos(2 * kPi * n / kSoundWindow));
      re += x * std::cos(2 * kPi * k * n / 512);
      im -= x * std::sin(2 * kPi * k * n / 512);
    }
    const double at = mel(k * 16000.0 / 512);
    for (uint32_t b = 0; b < kSoundBands; ++b) {
      const double left = lowest + b * width, weight = std::min(at - left, left + 2 * width - at) / width;
      if (weight > 0) sums[b] += weight * (re * re + im * im);
    }
  }
  return sums;
}

std::vector<uint8_t> row_of(const int16_t* samples) {
  FilterBank bank;
  EXPECT_EQ(bank.take(samples, kSoundWindow), kSoundWindow);
  std::vector<uint8_t> row(kSoundBands);
  bank.row(row.data());
  return row;
}

struct Difference {
  double most = 0;  // in steps, for bands at most 63 dB below the largest
  uint32_t judged = 0;
};

/// Measures the difference that the header bounds. Bands more than 63 dB below the largest need only stay within 3 dB
/// above that limit.
Difference difference(const int16_t* samples) {
  Difference out;
  const std::vector<double> sums = sums_of(samples);
  const double bound = *std::max_element(sums.begin(), sums.end()) * std::pow(2, -21);
  const std::vector<uint8_t> row = row_of(samples);
  const auto steps = [](double sum) { return std::min(255.0, std::max(0.0, 8 * (std::log2(sum) - 12))); };
  for (uint32_t b = 0; b < kSoundBands; ++b) {
    if (sums[b] < bound) {
      EXPECT_LE(row[b], steps(2 * bound)) << b;
      continue;
    }
    ++out.judged;
    out.most = std::max(out.most, std::abs(row[b] - std::round(steps(sums[b]))));
  }
  return out;
}

/// Tones of any pitch and volume, noise, and clicks.
std::vector<int16_t> signal(uint32_t tones, double loud, double noise, uint32_t clicks) {
  std::vector<int16_t> out(kSoundWindow);
  std::vector<double> x(kSoundWindow);
  for (uint32_t t = 0; t < tones; ++t) {
    const double hertz = *rc::gen::inRange(20, 7900), phase = *rc::gen::inRange(0, 628) / 100.0;
    const double part = loud * std::pow(10, -*rc::gen::inRange(0, 60) / 20.0);
    for (uint32_t n = 0; n < kSoundWindow; ++n) x[n] += part * std::sin(2 * kPi * hertz * n / 16000 + phase);
  }
  const auto grains = *rc::gen::container<std::vector<int16_t>>(kSoundWindow, rc::gen::inRange<int16_t>(-1000, 1001));
  for (uint32_t n = 0; n < kSoundWindow; ++n) x[n] += noise * grains[n] / 1000;
  for (uint32_t c = 0; c < clicks; ++c) x[*rc::gen::inRange<uint32_t>(0, kSoundWindow)] += loud;
  for (uint32_t n = 0; n < kSoundWindow; ++n) {
    out[n] = static_cast<int16_t>(std::lround(std::min(32767.0, std::max(-32768.0, x[n]))));
  }
  return out;
}

RC_GTEST_PROP(FilterBankTest, AgreesWithItsFormula, ()) {
  const double loud = std::pow(2, *rc::gen::inRange(0, 160) / 10.0);
  const double noise = loud * std::pow(10, -*rc::gen::inRange(0, 90) / 20.0);
  const std::vector<int16_t> samples = signal(*rc::gen::inRange(0U, 5U), loud, noise, *rc::gen::inRange(0U, 3U));
  const Difference found = difference(samples.data());
  RC_ASSERT(found.most <= 1);
}

TEST(FilterBankTest, LoudestAndFaintest) {
  std::vector<int16_t> samples(kSoundWindow);
  for (const int16_t value : std::vector<int16_t>{INT16_MIN, INT16_MAX, 1, -1}) {
    for (uint32_t period = 1; period < 64; period += 3) {
      for (uint32_t n = 0; n < kSoundWindow; ++n) {
        samples[n] = static_cast<int16_t>(n / period % 2 == 0 ? value : -1 - value);
      }
      EXPECT_LE(difference(samples.data()).most, 1) << value << " " << period;
    }
  }
  std::fill(samples.begin(), samples.end(), int16_t{0});
  EXPECT_EQ(row_of(samples.data()), std::vector<uint8_t>(kSoundBands));
}

TEST(FilterBankTest, ATonesBand) {
  for (uint32_t b = 0; b < kSoundBands; ++b) {
    const double lowest = mel(20), centre = lowest + (b + 1) * (mel(8000) - lowest) / (kSoundBands + 1);
    const double hertz = 700 * (std::exp(centre / 1127) - 1);
    std::vector<int16_t> samples(kSoundWindow);
    for (uint32_t n = 0; n < kSoundWindow; ++n) {
      samples[n] = static_cast<int16_t>(std::lround(8000 * std::sin(2 * kPi * hertz * n / 16000)));
    }
    const Difference found = difference(samples.data());
    EXPECT_LE(found.most, 1);
    EXPECT_GE(found.judged, 2U);
    const std::vector<uint8_t> row = row_of(samples.data());
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    if (b > 4) {  // below, the window's own width smears bands of 45 Hz
      EXPECT_EQ(best, b);
    }
  }
}

/// However samples are split, rows are those of windows that begin 320 samples apart.
RC_GTEST_PROP(FilterBankTest, AnyPieces, ()) {
  const auto samples = *rc::gen::container<std::vector<int16_t>>(2000, rc::gen::arbitrary<int16_t>());
  std::vector<uint8_t> whole, pieces;
  for (uint32_t row = 0; row < sound_rows(2000); ++row) {
    const std::vector<uint8_t> one = row_of(samples.data() + row * kSoundStep);
    whole.insert(whole.end(), one.begin(), one.end());
  }
  FilterBank bank;
  for (uint32_t at = 0; at < samples.size();) {
    const auto left = static_cast<uint32_t>(samples.size()) - at;
    at += bank.take(samples.data() + at, std::min(left, *rc::gen::inRange(1U, 700U)));
    if (!bank.has_row()) continue;
    RC_ASSERT(bank.take(samples.data(), 1) == 0U);
    pieces.resize(pieces.size() + kSoundBands);
    bank.row(pieces.data() + pieces.size() - kSoundBands);
  }
  RC_ASSERT(pieces == whole);
  RC_ASSERT(!bank.has_row());
  std::vector<uint8_t> none(kSoundBands, 7);
  bank.row(none.data());
  RC_ASSERT(none == std::vector<uint8_t>(kSoundBands));
}

/// Short sounds are padded with silence, and long ones are cut.
TEST(SoundRowsTest, FixedLength) {
  std::vector<int16_t> samples(2000);
  for (uint32_t n = 0; n < samples.size(); ++n) samples[n] = static_cast<int16_t>(n * 7919 % 4001 - 2000);
  constexpr uint32_t kRows = 9;
  for (const uint32_t length : {0U, 1U, 479U, 480U, 2000U}) {
    std::vector<int16_t> padded(samples.begin(), samples.begin() + length);
    padded.resize(6000);
    std::vector<uint8_t> wanted, found(kRows * kSoundBands, 9);
    for (uint32_t row = 0; row < kRows; ++row) {
      const std::vector<uint8_t> one = row_of(padded.data() + row * kSoundStep);
      wanted.insert(wanted.end(), one.begin(), one.end());
    }
    SoundRows rows;
    rows.begin(found.data(), kRows);
    EXPECT_TRUE(rows.add(samples.data(), length));
    rows.finish();
    EXPECT_EQ(found, wanted) << length;
    rows.begin(found.data(), kRows);
    EXPECT_FALSE(rows.add(padded.data(), 6000));
    rows.finish();
    EXPECT_EQ(found, wanted) << length;
  }
}

/// Cores without 64-bit products compute the same.
RC_GTEST_PROP(FourierTest, ProductsInHalves, ()) {
  const int32_t x = *rc::gen::inRange(-(1 << 30) + 1, 1 << 30), w = *rc::gen::inRange(-32768, 32769);
  RC_ASSERT(sound::times_in_halves(x, w) == sound::times_wide(x, w));
}

TEST(FourierTest, ProductsAtTheEdges) {
  constexpr int32_t kMost = (1 << 30) - 1;
  for (const int32_t x : {-kMost, -65536, -65535, -1, 0, 1, 65535, 65536, kMost}) {
    for (const int32_t w : {-32768, -1, 0, 1, 32768}) EXPECT_EQ(sound::times_in_halves(x, w), sound::times_wide(x, w));
  }
}

/// The error is within what halving drops, and the largest allowed inputs do not overflow.
TEST(FourierTest, AgreesWithItsFormula) {
  constexpr int32_t kMost = (1 << 29) - 1;
  uint32_t state = 1;
  for (uint32_t round = 0; round < 20; ++round) {
    std::vector<int32_t> z(512), found;
    for (int32_t& part : z) {
      state = state * 1664525U + 1013904223U;
      const auto drawn = static_cast<int32_t>(state) >> 2;
      part = round % 2 == 0 ? (drawn < 0 ? -kMost : kMost) : drawn;
    }
    found = z;
    sound::transform(found.data());
    for (uint32_t k = 0; k < 256; k += 5) {
      double re = 0, im = 0;
      for (uint32_t n = 0; n < 256; ++n) {
        const double c = std::cos(2 * kPi * k * n / 256), s = std::sin(2 * kPi * k * n / 256);
        re += z[2 * n] * c + z[2 * n + 1] * s;
        im += z[2 * n + 1] * c - z[2 * n] * s;
      }
      EXPECT_NEAR(found[2 * k], re / 256, 4000) << k;  // 2^29 / 4000: 102 dB
      EXPECT_NEAR(found[2 * k + 1], im / 256, 4000) << k;
    }
  }
}

TEST(TablesTest, Formulas) {
  using sound::kTables;
  for (uint32_t i = 0; i <= 240; ++i) {
    EXPECT_NEAR(kTables.window[i], 32768 * (0.5 - 0.5 * std::cos(2 * kPi * i / 480)), 0.5001) << i;
  }
  for (uint32_t i = 0; i <= 128; ++i) EXPECT_NEAR(kTables.sine[i], 32768 * std::sin(2 * kPi * i / 512), 0.5001) << i;
  for (uint32_t i = 0; i <= 32; ++i) EXPECT_NEAR(kTables.log2[i], 65536 * std::log2(1 + i / 32.0), 0.5001) << i;
  for (uint32_t k = 1; k < 256; ++k) {
    const double place = 41 * (mel(k * 31.25) - mel(20)) / (mel(8000) - mel(20));
    EXPECT_NEAR(kTables.band[k] + kTables.rise[k] / 32768.0, place, 2e-5) << k;
    EXPECT_LT(kTables.band[k], 41);
  }
}

}  // namespace
}  // namespace bantam
