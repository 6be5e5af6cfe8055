#include "sound/fourier.h"

#include "linked.h"
#include "sound/tables.h"

#if BANTAM_IF_LINKED(Sound)

namespace bantam::sound {
namespace {

/// Reverses the 8 bits of i.
uint32_t reversed(uint32_t i) {
  i = (i >> 4 & 0x0F) | (i & 0x0F) << 4;
  i = (i >> 2 & 0x33) | (i & 0x33) << 2;
  return (i >> 1 & 0x55) | (i & 0x55) << 1;
}

void reverse_order(int32_t* z) {
  for (uint32_t i = 0; i < kHalf; ++i) {
    const uint32_t other = reversed(i);
    if (other <= i) continue;
    for (uint32_t part = 0; part < 2; ++part) {
      const int32_t kept = z[2 * i + part];
      z[2 * i + part] = z[2 * other + part];
      z[2 * other + part] = kept;
    }
  }
}

}  // namespace

Turn turn(uint32_t k) {
  const uint16_t* sine = kTables.sine;
  if (k <= kQuarter) return {sine[kQuarter - k], sine[k]};
  return {-int32_t{sine[k - kQuarter]}, sine[kHalf - k]};
}

void transform(int32_t* z) {
  reverse_order(z);
  for (uint32_t span = 1; span < kHalf; span *= 2) {
    for (uint32_t k = 0; k < span; ++k) {
      const Turn w = turn(k * (kHalf / span));
      for (uint32_t first = k; first < kHalf; first += 2 * span) {
        int32_t *a = z + 2 * first, *b = a + 2 * span;
        const int32_t re = times(b[0], w.cosine) + times(b[1], w.sine);
        const int32_t im = times(b[1], w.cosine) - times(b[0], w.sine);
        b[0] = (a[0] - re) >> 1;
        b[1] = (a[1] - im) >> 1;
        a[0] = (a[0] + re) >> 1;
        a[1] = (a[1] + im) >> 1;
      }
    }
  }
}

}  // namespace bantam::sound

#endif  // BANTAM_IF_LINKED(Sound)
