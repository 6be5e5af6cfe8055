#include "network/blocks/hash_rotations.h"

#include <cmath>
#include <random>

namespace bantam::convert {
namespace {

constexpr double kTwoPi = 6.283185307179586476925;
/// torch fills blocks of this size; for fewer numbers it draws one pair after the other.
constexpr size_t kTogether = 16;

/// Uniform numbers in [0, 1): from the low 24 bits of a word, or from the low 53 bits of two words, the higher word
/// first.
double narrow(std::mt19937& random) { return std::ldexp(static_cast<double>(random() & 0xFFFFFFU), -24); }
double wide(std::mt19937& random) {
  const uint64_t high = random(), low = random();
  return std::ldexp(static_cast<double>((high << 32U | low) & ((uint64_t{1} << 53U) - 1)), -53);
}

/// The Box-Muller transform of one block: number i is paired with number i + kTogether / 2.
void fill(std::mt19937& random, float* to) {
  double uniform[kTogether];
  for (double& value : uniform) value = narrow(random);
  for (size_t i = 0; i < kTogether / 2; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - uniform[i])), angle = kTwoPi * uniform[i + kTogether / 2];
    to[i] = static_cast<float>(radius * std::cos(angle));
    to[i + kTogether / 2] = static_cast<float>(radius * std::sin(angle));
  }
}

}  // namespace

std::vector<float> torch_normals(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<float> numbers(count);
  if (count < kTogether) {
    for (size_t i = 0; i < count; i += 2) {
      const double first = wide(random), second = wide(random);
      const double radius = std::sqrt(-2 * std::log1p(-second)), angle = kTwoPi * first;
      numbers[i] = static_cast<float>(radius * std::cos(angle));
      if (i + 1 < count) numbers[i + 1] = static_cast<float>(radius * std::sin(angle));
    }
    return numbers;
  }
  // torch draws all uniform numbers first; if the last block is not full, it redraws the last 16 numbers.
  for (size_t i = 0; i + kTogether <= count; i += kTogether) fill(random, numbers.data() + i);
  if (count % kTogether == 0) return numbers;
  random.discard(count % kTogether);
  fill(random, numbers.data() + (count - kTogether));
  return numbers;
}

std::vector<float> hash_rotations(uint32_t seed, size_t heads, size_t head_width, size_t rounds, size_t products) {
  const std::vector<float> drawn = torch_normals(seed, heads * head_width * rounds * products);
  const size_t padded = (products + 15) / 16 * 16;
  std::vector<float> rows(heads * rounds * padded * head_width, 0.0F);
  auto from = drawn.begin();
  for (size_t head = 0; head < heads; ++head) {
    for (size_t column = 0; column < head_width; ++column) {
      for (size_t round = 0; round < rounds; ++round) {
        for (size_t i = 0; i < products; ++i) {
          rows[((head * rounds + round) * padded + i) * head_width + column] = *from++;
        }
      }
    }
  }
  return rows;
}

}  // namespace bantam::convert
