// Unpacks 4-bit weights (layout tile_i4_k8n16) to int8 weights.
#ifndef BANTAM_KERNELS_GENERIC_UNPACK_INT4_H_
#define BANTAM_KERNELS_GENERIC_UNPACK_INT4_H_

#include "kernels/generic/lanes.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

// (half - 8) * factor is at most 120 in magnitude. half * factor is at most 225: a product of several bytes by one
// factor has no carry from one byte to the next, so a word is multiplied at once, and 8 * factor is subtracted from
// each byte.

#if defined(BANTAM_KERNEL_ONE_LANE)

/// Each byte of `b` must be at most 120.
BANTAM_TINY uint32_t subtract_bytes(uint32_t a, uint32_t b) {
  constexpr uint32_t kTop = 0x80808080u;
  return ((a | kTop) - b) ^ (~a & kTop);
}

/// Unpacks `count` times 8 k of 16 outputs: w [count][16][4] to out [2 * count][16][4].
BANTAM_NOINLINE inline void unpack_group(const uint8_t* w, const uint8_t* factors, uint32_t count, int8_t* out) {
  for (uint32_t o = 0; o < 16; ++o) {
    const uint32_t factor = factors[o];
    const uint32_t eight = factor * 0x08080808u;
    const uint8_t* from = w + o * 4;
    int8_t* to = out + o * 4;
    for (uint32_t i = 0; i < count; ++i, from += 64, to += 128) {
      uint32_t halves;
      memcpy(&halves, from, 4);
      const uint32_t low = subtract_bytes((halves & 0x0F0F0F0Fu) * factor, eight);
      const uint32_t high = subtract_bytes((halves >> 4 & 0x0F0F0F0Fu) * factor, eight);
      memcpy(to, &low, 4);
      memcpy(to + 64, &high, 4);
    }
  }
}

#else

/// The same with compiler vectors as wide as this instruction set's registers: the same few operations everywhere.
class GroupUnpacker {
 public:
  /// The factors of 16 outputs.
  BANTAM_INLINE explicit GroupUnpacker(const uint8_t* factors) {
    const I32 loaded = load_i8(reinterpret_cast<const int8_t*>(factors));
    Quads factor[kParts];
    static_assert(sizeof factor == sizeof loaded);
    memcpy(factor, &loaded, 64);
    BANTAM_UNROLL_ALWAYS
    for (uint32_t p = 0; p < kParts; ++p) {
      twice_[p] = reinterpret_cast<Halves>(factor[p] * 0x00010001u);
      eight_[p] = reinterpret_cast<Bytes>(factor[p] * 0x08080808u);
    }
  }
  GroupUnpacker() = default;
  /// Unpacks 8 k of the outputs, w [16][4], to two tiles of int8 weights.
  template <class Tile>
  BANTAM_INLINE void take(const uint8_t* w, Tile& first, Tile& second) const {
    static_assert(sizeof first == 64);
    BANTAM_UNROLL_ALWAYS
    for (uint32_t p = 0; p < kParts; ++p) {
      Bytes halves;
      memcpy(&halves, w + p * kBytes, kBytes);
      const Bytes low = reinterpret_cast<Bytes>(reinterpret_cast<Halves>(halves & 0x0F) * twice_[p]) - eight_[p];
      const Bytes high = reinterpret_cast<Bytes>(reinterpret_cast<Halves>(halves >> 4) * twice_[p]) - eight_[p];
      memcpy(reinterpret_cast<uint8_t*>(&first) + p * kBytes, &low, kBytes);
      memcpy(reinterpret_cast<uint8_t*>(&second) + p * kBytes, &high, kBytes);
    }
  }
  template <class Tile>
  static BANTAM_INLINE void store(const Tile& tile, int8_t* out) {
    BANTAM_UNROLL_ALWAYS
    for (uint32_t p = 0; p < kParts; ++p) {
      memcpy(out + p * kBytes, reinterpret_cast<const uint8_t*>(&tile) + p * kBytes, kBytes);
    }
  }

 private:
  static constexpr uint32_t kBytes = alignof(I32);
  static constexpr uint32_t kParts = 64 / kBytes;
  using Bytes = uint8_t __attribute__((vector_size(kBytes)));
  using Halves = uint16_t __attribute__((vector_size(kBytes)));
  using Quads = uint32_t __attribute__((vector_size(kBytes)));
  Halves twice_[kParts];
  Bytes eight_[kParts];
};

struct StoredTile {
  int8_t bytes[64];
};
/// Unpacks `count` times 8 k of 16 outputs: w [count][16][4] to out [2 * count][16][4].
BANTAM_NOINLINE inline void unpack_group(const uint8_t* w, const uint8_t* factors, uint32_t count, int8_t* out) {
  const GroupUnpacker group(factors);
  StoredTile* tiles = static_cast<StoredTile*>(static_cast<void*>(out));
  for (uint32_t i = 0; i < count; ++i, w += 64, tiles += 2) group.take(w, tiles[0], tiles[1]);
}

#endif

/// out[k/4][16][4] = the weights of outputs [16 * panel, + 16) and inputs [first, first + pad8(count)); `first` is a
/// multiple of 8.
inline void unpack_int4(const LinearQ8& a, uint32_t panel, uint32_t first, uint32_t count, int8_t* out) {
  const uint8_t* factors = a.factors + size_t{panel} * int4_groups(a.k, a.group) * 16;
  const uint8_t* w = reinterpret_cast<const uint8_t*>(a.w) + size_t{panel} * (pad8(a.k) / 8) * 64;
  const uint32_t end = pad8(first + count);
  for (uint32_t k = first, next = 0; k < end; k = next) {
    const uint32_t group = k / a.group;
    next = int4_group_end(group * a.group, a.group, end);
    unpack_group(w + size_t{k} * 8, factors + size_t{group} * 16, (next - k) / 8, out);
    out += size_t{next - k} * 16;
  }
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_UNPACK_INT4_H_
