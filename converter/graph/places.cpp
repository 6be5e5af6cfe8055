#include "graph/places.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace bantam::convert {

namespace {

constexpr double kTurn = 6.283185307179586;

/// Returns the (fractional) index of the angle that makes `turns` turns over the original positions; YaRN interpolates
/// between two such indices.
double angle_of_turns(double turns, uint32_t width, const Rotary& rotary) {
  return width * std::log(rotary.original / (turns * kTurn)) / (2 * std::log(rotary.base));
}

/// YaRN's mixture of an angle's step and that step divided by the factor.
float mixed_step(uint32_t i, uint32_t width, float power, const Rotary& rotary) {
  double low = angle_of_turns(rotary.high, width, rotary), high = angle_of_turns(rotary.low, width, rotary);
  if (rotary.whole) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, width - 1.0);
  if (low == high) high += 0.001;
  const float ramp = (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low);
  const float kept = 1.0F - std::clamp(ramp, 0.0F, 1.0F);
  return 1.0F / (static_cast<float>(rotary.factor) * power) * (1.0F - kept) + 1.0F / power * kept;
}

/// Returns the step of angle i of `width` / 2 from one position to the next, in texts of up to `places` positions.
float rotary_step(uint32_t i, uint32_t width, uint32_t places, const Rotary& rotary) {
  const auto power = static_cast<float>(
      std::pow(rotary.base, static_cast<double>(2 * i) / (rotary.columns == 0 ? width : rotary.columns)));
  if (!rotary.divisors.empty()) {
    const auto& divisors = places > rotary.original ? rotary.divisors : rotary.short_divisors;
    return 1.0F / (static_cast<float>(divisors.at(i)) * power);
  }
  if (rotary.kind == Rotary::Kind::kColumns) return mixed_step(i, width, power, rotary);
  const float step = 1.0F / power * static_cast<float>(rotary.step);
  if (rotary.factor == 1) return step;
  const auto factor = static_cast<float>(rotary.factor);
  const auto turns = static_cast<float>(rotary.original / (kTurn / double{step}));
  if (double{turns} < rotary.low) return step / factor;
  if (double{turns} > rotary.high) return step;
  const float share = (turns - static_cast<float>(rotary.low)) / static_cast<float>(rotary.high - rotary.low);
  return (1.0F - share) * step / factor + share * step;
}

}  // namespace

bool operator==(const Rotary& a, const Rotary& b) {
  return a.base == b.base && a.columns == b.columns && a.step == b.step && a.kind == b.kind && a.factor == b.factor &&
         a.low == b.low && a.high == b.high && a.original == b.original && a.whole == b.whole &&
         a.divisors == b.divisors && a.short_divisors == b.short_divisors && a.amplitude == b.amplitude;
}

std::vector<float> rotary_angles(uint32_t places, uint32_t width, const Rotary& rotary) {
  const uint32_t half = width / 2;
  const auto amplitude = static_cast<float>(rotary.amplitude);
  std::vector<float> angles(size_t{places} * width);
  for (uint32_t i = 0; i < half; ++i) {
    const float step = rotary_step(i, width, places, rotary);
    for (uint32_t place = 0; place < places; ++place) {
      const float angle = static_cast<float>(place) * step;
      const auto cosine = static_cast<float>(std::cos(static_cast<double>(angle)));
      const auto sine = static_cast<float>(std::sin(static_cast<double>(angle)));
      angles[size_t{place} * width + i] = cosine * amplitude;
      angles[size_t{place} * width + half + i] = sine * amplitude;
    }
  }
  return angles;
}

void halves_of_neighbours(std::vector<float>& values, uint32_t heads, uint32_t columns, uint32_t width) {
  const size_t head = values.size() / heads;
  std::vector<float> turned(size_t{width} * columns);
  for (uint32_t h = 0; h < heads; ++h) {
    float* const begin = values.data() + h * head;
    for (uint32_t row = 0; row < width; ++row) {
      const uint32_t to = row % 2 * (width / 2) + row / 2;
      std::copy_n(begin + size_t{row} * columns, columns, turned.data() + size_t{to} * columns);
    }
    std::copy(turned.begin(), turned.end(), begin);
  }
}

uint32_t distance_bucket(int32_t distance, uint32_t buckets, uint32_t most, Sides sides) {
  const bool both = sides == Sides::kBoth;
  const uint32_t half = both ? buckets / 2 : buckets;
  const uint32_t exact = half / 2;
  const uint32_t first = both && distance > 0 ? half : 0;
  const auto away = both || distance < 0 ? static_cast<uint32_t>(std::abs(distance)) : 0;
  if (away < exact) return first + away;
  const float ratio = std::log(static_cast<float>(away) / static_cast<float>(exact));
  const auto octaves = static_cast<float>(std::log(static_cast<double>(most) / exact));
  const auto beyond = static_cast<uint32_t>(ratio / octaves * static_cast<float>(half - exact));
  return first + std::min(exact + beyond, half - 1);
}

int32_t signed_bucket(int32_t distance, uint32_t buckets, uint32_t most) {
  const auto half = static_cast<int32_t>(buckets / 2);
  const int32_t away = std::abs(distance);
  if (away <= half) return distance;
  const float ratio = std::log(static_cast<float>(away) / static_cast<float>(half));
  const float all = std::log(static_cast<float>((static_cast<double>(most) - 1) / half));
  const float beyond = std::ceil(ratio / all * static_cast<float>(half - 1));
  const int32_t bucket = beyond > 0 && beyond < 1e6F ? static_cast<int32_t>(beyond) + half : half;
  return distance < 0 ? -bucket : bucket;
}

std::vector<float> bucket_biases(const std::vector<float>& table, uint32_t heads, uint32_t buckets, uint32_t most,
                                 Sides sides) {
  std::vector<float> biases;
  const auto end = static_cast<int32_t>(most);
  for (uint32_t head = 0; head < heads; ++head) {
    for (int32_t distance = -end; distance <= end; ++distance) {
      biases.push_back(table[size_t{distance_bucket(distance, buckets, most, sides)} * heads + head]);
    }
  }
  return biases;
}

std::vector<float> sinusoids(uint32_t distances, uint32_t width) {
  const uint32_t half = width / 2;
  std::vector<float> rows(size_t{distances} * width);
  for (uint32_t i = 0; i < half; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(width);
    const float step = 1.0F / static_cast<float>(std::pow(10000.0, static_cast<double>(exponent)));
    for (uint32_t distance = 0; distance < distances; ++distance) {
      const auto angle = static_cast<double>(static_cast<float>(distance) * step);
      rows[size_t{distance} * width + i] = static_cast<float>(std::sin(angle));
      rows[size_t{distance} * width + half + i] = static_cast<float>(std::cos(angle));
    }
  }
  return rows;
}

std::vector<float> precise_sinusoids(uint32_t places, uint32_t width) {
  const uint32_t half = width / 2;
  std::vector<float> rows(size_t{places} * width);
  for (uint32_t i = 0; i < half; ++i) {
    const double power = std::pow(10000.0, static_cast<double>(2 * i) / width);
    for (uint32_t place = 0; place < places; ++place) {
      rows[size_t{place} * width + i] = static_cast<float>(std::sin(place / power));
      rows[size_t{place} * width + half + i] = static_cast<float>(std::cos(place / power));
    }
  }
  return rows;
}

std::vector<float> stepped_sinusoids(uint32_t places, uint32_t width) {
  const uint32_t half = width / 2;
  const double step = std::log(10000.0) / (half - 1);
  std::vector<float> rows(size_t{places} * width);
  for (uint32_t i = 0; i < half; ++i) {
    const float frequency = std::exp(static_cast<float>(i) * static_cast<float>(-step));
    for (uint32_t place = 0; place < places; ++place) {
      const auto angle = static_cast<double>(static_cast<float>(place) * frequency);
      rows[size_t{place} * width + i] = static_cast<float>(std::sin(angle));
      rows[size_t{place} * width + half + i] = static_cast<float>(std::cos(angle));
    }
  }
  return rows;
}

std::vector<float> alibi_slopes(uint32_t heads) {
  // Take the slopes for the largest power of two up to `heads`, then every other slope for twice that power for the
  // remaining heads.
  uint32_t power = 1;
  while (power * 2 <= heads) power *= 2;
  std::vector<float> slopes;
  for (uint32_t head = 0; head < heads; ++head) {
    const bool own = head < power;
    const double step = -8.0 / (own ? power : 2 * power);
    slopes.push_back(static_cast<float>(std::exp2(step * (own ? head + 1 : 2 * (head - power) + 1))));
  }
  return slopes;
}

}  // namespace bantam::convert
