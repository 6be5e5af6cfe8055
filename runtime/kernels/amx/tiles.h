// Tiles of Intel AMX: 16 rows of 64 bytes. tdpbusd multiplies u8 activations (x + 128) by s8 weights, exact in int32,
// 16 rows by 16 outputs by 64 inputs per instruction. A panel of weights [k/4][16][4] consists of tiles in memory
// order: 16 quads of 16 outputs.
// Uses assembly rather than intrinsics: those of gcc 12 do not declare which memory they read.
#ifndef BANTAM_KERNELS_AMX_TILES_H_
#define BANTAM_KERNELS_AMX_TILES_H_

#include "kernels/generic/config.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint32_t kTileRows = 16;
constexpr uint32_t kTileBytes = 64;  // per row

/// Configures the tiles until the end of the scope: 0 to 3 are sums, 4 and 5 activations, 6 and 7 weights. Tiles of
/// sums and activations have `first` rows for the first 16 rows, and `second` for the next ones.
class TileScope {
 public:
  BANTAM_INLINE TileScope(uint32_t first, uint32_t second) {
    struct alignas(64) {
      uint8_t palette = 1;
      uint8_t start_row = 0;
      uint8_t reserved[14] = {};
      uint16_t bytes[16] = {};  // per row
      uint8_t rows[16] = {};
    } config;
    for (uint32_t tile = 0; tile < 8; ++tile) {
      const bool of_second = second != 0 && (tile == 2 || tile == 3 || tile == 5);
      config.bytes[tile] = kTileBytes;
      config.rows[tile] = static_cast<uint8_t>(is_weights(tile, second) ? kTileRows : of_second ? second : first);
    }
    __asm__ volatile("ldtilecfg %0" : : "m"(config) : "memory");
  }
  BANTAM_INLINE ~TileScope() { __asm__ volatile("tilerelease" : : : "memory"); }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  /// With one tile of rows there are three tiles of weights.
  static constexpr bool is_weights(uint32_t tile, uint32_t second) { return tile >= (second == 0 ? 5 : 6); }
};

template <int kTile>
BANTAM_INLINE void clear_tile() {
  __asm__ volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
/// Rows `stride` bytes apart.
template <int kTile>
BANTAM_INLINE void load_tile(const void* p, size_t stride) {
  __asm__ volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(kTile), "r"(p), "r"(stride) : "memory");
}
template <int kTile>
BANTAM_INLINE void store_tile(void* p, size_t stride) {
  __asm__ volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(kTile), "r"(p), "r"(stride) : "memory");
}
/// Adds products of u8 rows and s8 weights to the sums.
template <int kSums, int kRows, int kWeights>
BANTAM_INLINE void add_products() {
  __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kRows), "i"(kWeights));
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_AMX_TILES_H_
