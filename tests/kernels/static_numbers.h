// The arithmetic of `Integer` in schemas/bantam.fbs in 64 bits, and random numbers for the static kernels.
#ifndef BANTAM_TESTS_KERNELS_STATIC_NUMBERS_H_
#define BANTAM_TESTS_KERNELS_STATIC_NUMBERS_H_

#include <algorithm>
#include <cmath>

#include "tests/kernels/linear_cases.h"
#include "tests/kernels/row_cases.h"

namespace bantam::kernels::test {

inline int64_t naive_rs(int64_t v, uint32_t shift) {
  if (shift == 0) return v;
  const int64_t unit = int64_t{1} << shift;
  const int64_t up = v + unit / 2;
  return up >= 0 ? up / unit : -((-up + unit - 1) / unit);  // floor
}
inline int64_t naive_clamp(int64_t v, int64_t low, int64_t high) { return std::min(high, std::max(low, v)); }
inline int64_t naive_sat16(int64_t v) { return naive_clamp(v, -32768, 32767); }
inline int64_t naive_sat8(int64_t v) { return naive_clamp(v, -127, 127); }

/// Returns random numbers in [low, high], padded to 16 with zeros.
template <class T>
Guarded make_numbers(Random& random, uint32_t n, int32_t low, int32_t high) {
  Guarded v(size_t{pad16(n)} * sizeof(T));
  for (uint32_t i = 0; i < pad16(n); ++i) {
    const int64_t number = low + static_cast<int64_t>(random.next() % static_cast<uint64_t>(int64_t{high} - low + 1));
    v.as<T>()[i] = i < n ? static_cast<T>(number) : T{0};
  }
  return v;
}

/// Returns signed i8 rows.
inline Guarded make_i8_rows(Random& random, uint32_t rows, uint32_t width, size_t stride) {
  Guarded x = make_rows<int8_t>(rows, stride, pad16(width));
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t i = 0; i < width; ++i) x.as<int8_t>()[r * stride + i] = random.weight();
  }
  return x;
}
/// Returns the rows as a session with this table stores them.
inline Guarded stored_rows(const Guarded& x, const Table& table) {
  Guarded y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y.data()[i] = static_cast<uint8_t>(x.data()[i] ^ table.offset_xor);
  return y;
}

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_STATIC_NUMBERS_H_
