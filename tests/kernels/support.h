// Seeded random numbers, rows and vectors for kernel calls, and the list of tables to test.
#ifndef BANTAM_TESTS_KERNELS_SUPPORT_H_
#define BANTAM_TESTS_KERNELS_SUPPORT_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/tables.h"
#include "tests/every_isa.h"
#include "tests/kernels/guarded.h"

namespace bantam::kernels::test {

/// splitmix64 (Steele, Lea and Flood, 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Returns a number in [low, high].
  uint32_t between(uint32_t low, uint32_t high) { return low + static_cast<uint32_t>(next() % (high - low + 1)); }
  bool chance(uint32_t percent) { return between(0, 99) < percent; }
  /// Returns a number in [-1, 1).
  float unit() { return static_cast<float>(static_cast<int32_t>(next() >> 32)) * 0x1p-31f; }
  /// Returns an approximately normal number.
  float normal() { return (unit() + unit() + unit()) * 1.0f; }
  int8_t weight() { return static_cast<int8_t>(static_cast<int32_t>(between(0, 254)) - 127); }

 private:
  uint64_t state_;
};

/// Allocates `rows` rows of `stride` elements; the last row has only `last` elements.
template <class T>
Guarded make_rows(size_t rows, size_t stride, size_t last) {
  return Guarded(((rows - 1) * stride + last) * sizeof(T));
}

/// Returns a row stride: the smallest that is legal, or a few multiples of 16 more.
inline size_t some_stride(Random& random, uint32_t width) {
  return pad16(width) + (random.chance(30) ? 16 * random.between(1, 3) : 0);
}

/// Returns a width that is often not a multiple of 16.
inline uint32_t some_width(Random& random, uint32_t most) {
  return random.chance(40) ? 16 * random.between(1, (most + 15) / 16) : random.between(1, most);
}

/// Returns a vector of n floats, padded to 16 with zeros.
inline Guarded make_vector(Random& random, uint32_t n, float scale, float centre = 0.0f) {
  Guarded v(size_t{pad16(n)} * 4);
  for (uint32_t i = 0; i < pad16(n); ++i) v.as<float>()[i] = i < n ? centre + random.normal() * scale : 0.0f;
  return v;
}

/// Returns every table that this machine can run, starting with the reference.
inline std::vector<const Table*> tables() {
  std::vector<const Table*> all;
  for (const Isa isa : testing::every_isa()) {
    const Table* found = table(isa);
    if (found == nullptr) continue;
#if defined(__x86_64__)
    // On a processor with VBMI, this instruction set's name selects another table, so this table has no name.
    if (isa == Isa::kAvx512Vnni && found != &avx512::kTable) all.push_back(&avx512::kTable);
#endif
    all.push_back(found);
  }
  return all;
}

/// The result of a kernel call: its return value, and the bytes that its contract defines.
struct Result {
  bool finite = false;
  std::vector<uint8_t> bytes;

  void add(const void* data, size_t size) {
    const uint8_t* p = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), p, p + size);
  }
  void add_q8(const void* data, size_t size, uint8_t offset_xor) {
    const uint8_t* p = static_cast<const uint8_t*>(data);
    for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<uint8_t>(p[i] ^ offset_xor));
  }
};

/// Returns true if bytes [from, to) of every row but the last still have the fill value: nothing was written between
/// the rows.
inline bool untouched(const uint8_t* data, size_t rows, size_t stride, size_t from, size_t to) {
  for (size_t r = 0; r + 1 < rows; ++r) {
    for (size_t i = from; i < to; ++i) {
      if (data[r * stride + i] != Guarded::kFill) return false;
    }
  }
  return true;
}

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_SUPPORT_H_
