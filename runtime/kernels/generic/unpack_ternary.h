// Unpacks ternary weights (layout tile_ternary_k16n16) to int8 weights.
#ifndef BANTAM_KERNELS_GENERIC_UNPACK_TERNARY_H_
#define BANTAM_KERNELS_GENERIC_UNPACK_TERNARY_H_

#include "kernels/generic/lanes.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Unpacks 16 k of 16 outputs: w [16][4] to four tiles of int8 weights.
template <class Tile>
BANTAM_INLINE void unpack_sixteen(const uint8_t* w, Tile (&tiles)[4]) {
  static_assert(sizeof(Tile) == 64);
#if defined(BANTAM_KERNEL_ONE_LANE)
  uint8_t* out = reinterpret_cast<uint8_t*>(tiles);
  for (uint32_t i = 0; i < 64; i += 4) {
    uint32_t codes;
    memcpy(&codes, w + i, 4);
    for (uint32_t t = 0; t < 4; ++t, codes >>= 2) {
      constexpr uint32_t kTop = 0x80808080u;  // keeps a byte's subtraction from its neighbour
      const uint32_t weights = ((codes & 0x03030303u) + (kTop - 0x01010101u)) ^ kTop;
      memcpy(out + t * 64 + i, &weights, 4);
    }
  }
#else
  constexpr uint32_t kBytes = alignof(I32);
  using Bytes = uint8_t __attribute__((vector_size(kBytes)));
  using Pairs = uint16_t __attribute__((vector_size(kBytes)));
  BANTAM_UNROLL_ALWAYS
  for (uint32_t i = 0; i < 64; i += kBytes) {
    Pairs codes;
    memcpy(&codes, w + i, kBytes);
    BANTAM_UNROLL_ALWAYS
    for (uint32_t t = 0; t < 4; ++t) {
      const Bytes weights = (reinterpret_cast<Bytes>(codes >> (2 * t)) & 3) - 1;
      memcpy(reinterpret_cast<uint8_t*>(&tiles[t]) + i, &weights, kBytes);
    }
  }
#endif
}

/// out[k/4][16][4] = the weights of outputs [16 * panel, + 16) and inputs [first, first + pad16(count)); `first` is a
/// multiple of 16.
BANTAM_NOINLINE inline void unpack_ternary(const LinearQ8& a, uint32_t panel, uint32_t first, uint32_t count,
                                           int8_t* out) {
  struct Tile {
    int8_t bytes[64];
  };
  const uint8_t* w = reinterpret_cast<const uint8_t*>(a.w) + size_t{panel} * pad16(a.k) * 4 + size_t{first} * 4;
  for (uint32_t k = 0; k < count; k += 16, w += 64, out += 256) {
    unpack_sixteen(w, *static_cast<Tile(*)[4]>(static_cast<void*>(out)));
  }
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_UNPACK_TERNARY_H_
