#include "base/half.h"

#include <cmath>
#include <cstring>

namespace bantam::convert {

uint16_t half_from_float(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  uint32_t half;
  if (magnitude > 0x7F800000u) {
    half = 0x7E00u;
  } else if (magnitude >= 0x477FF000u) {  // rounds to 65536 or more
    half = 0x7C00u;
  } else if (magnitude < 0x38800000u) {  // below the smallest normal f16: rounded to a multiple of 2^-24
    half = static_cast<uint32_t>(std::nearbyint(std::ldexp(std::fabs(value), 24)));
  } else {
    const uint32_t odd = (magnitude >> 13) & 1u;
    half = (magnitude - 0x38000000u + 0xFFFu + odd) >> 13;
  }
  return static_cast<uint16_t>(sign | half);
}

}  // namespace bantam::convert
