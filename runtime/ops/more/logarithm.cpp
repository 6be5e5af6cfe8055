#include "ops/more/logarithm.h"

#include <stdint.h>
#include <string.h>

namespace bantam::ops {

/// Computes 2 artanh((m - 1) / (m + 1)) + e ln 2 for x = m 2^e.
float natural_log(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  int32_t exponent = static_cast<int32_t>(bits >> 23) - 127;
  bits = (bits & 0x7FFFFFu) | 0x3F800000u;
  float m;
  memcpy(&m, &bits, sizeof(m));
  if (m > 1.41421356f) {
    m *= 0.5f;
    ++exponent;
  }
  const float s = (m - 1.0f) / (m + 1.0f);
  const float z = s * s;
  const float series = 1.0f + z * (0.333333333f + z * (0.2f + z * (0.142857143f + z * 0.111111111f)));
  // ln 2 in two parts.
  const float e = static_cast<float>(exponent);
  return e * 0.693359375f + (2.0f * s * series - e * 2.12194440e-4f);
}

}  // namespace bantam::ops
