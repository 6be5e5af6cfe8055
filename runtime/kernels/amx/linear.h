// linear_q8 and static_linear with tiles: groups of up to 32 rows by 32 outputs, or up to 16 rows by 64. The outer loop
// is over panels of outputs, so that a group's weights, once loaded from memory, stay in the cache for all rows. The
// processor prefetches them itself: prefetching here, as other instruction sets do, costs 8 to 20 %.
#ifndef BANTAM_KERNELS_AMX_LINEAR_H_
#define BANTAM_KERNELS_AMX_LINEAR_H_

#include "kernels/amx/sums.h"
#include "kernels/amx/tiles.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// One matrix product with tiles, of a LinearQ8 or a StaticLinear; store_sums (sums.h) computes the outputs.
template <class Layer>
class TiledLinear {
 public:
  BANTAM_INLINE explicit TiledLinear(const Layer& layer)
      : a_(layer),
        whole_(layer.k / kTileBytes),
        rest_(layer.k % kTileBytes),
        groups_((layer.rows + kMostRows - 1) / kMostRows),
        // All groups have the same size, so that tiles keep their shapes; the last group recomputes some rows.
        size_((layer.rows + groups_ - 1) / groups_),
        second_(size_ > kTileRows ? size_ / 2 : 0),
        first_(size_ - second_) {}

  /// Returns false if some y is not finite.
  BANTAM_INLINE bool run() {
    const TileScope tiles(first_, second_);
    return second_ != 0 ? all_panels<2, 2>() : all_panels<1, 4>();
  }

 private:
  static constexpr uint32_t kMostRows = 2 * kTileRows;

  uint32_t row_of(uint32_t group) const { return group + 1 == groups_ ? a_.rows - size_ : group * size_; }

  template <uint32_t kRowTiles, uint32_t kPanels>
  BANTAM_INLINE bool all_panels() {
    const uint32_t panels = a_.n / 16;
    bool finite = true;
    uint32_t panel = 0;
    for (; panel + kPanels <= panels; panel += kPanels) finite &= panels_of_all_rows<kRowTiles, kPanels>(panel);
    for (; panel < panels; ++panel) finite &= panels_of_all_rows<kRowTiles, 1>(panel);
    return finite;
  }

  template <uint32_t kRowTiles, uint32_t kPanels>
  BANTAM_INLINE bool panels_of_all_rows(uint32_t panel) {
    const size_t panel_bytes = size_t{a_.k} * 16;
    const int8_t* w = a_.w + panel * panel_bytes;
    // The last inputs of each panel, padded with zeros.
    alignas(64) int8_t last[kPanels][kTileRows * kTileBytes];
    if (rest_ != 0) {
      memset(last, 0, sizeof(last));
      for (uint32_t p = 0; p < kPanels; ++p) {
        memcpy(last[p], w + p * panel_bytes + size_t{whole_} * sizeof(last[p]), rest_ * 16);
      }
    }
    bool finite = true;
    for (uint32_t group = 0; group < groups_; ++group) {
      finite &= block<kRowTiles, kPanels>(row_of(group), panel, w, last[0]);
    }
    return finite;
  }

  template <uint32_t kRowTiles, uint32_t kPanels>
  BANTAM_NOINLINE bool block(uint32_t row, uint32_t panel, const int8_t* w, const int8_t* last) {
    alignas(64) int32_t sums[kRowTiles * kTileRows * kPanels][16];
    multiply<kRowTiles, kPanels>(row, w, last);
    constexpr size_t kStride = kPanels * sizeof(sums[0]);
    store_tile<0>(sums[0], kStride);
    if constexpr (kPanels > 1) store_tile<1>(sums[1], kStride);
    if constexpr (kRowTiles == 2) {
      store_tile<2>(sums[size_t{first_} * kPanels], kStride);
      if constexpr (kPanels > 1) store_tile<3>(sums[size_t{first_} * kPanels + 1], kStride);
    } else if constexpr (kPanels > 2) {
      store_tile<2>(sums[2], kStride);
      store_tile<3>(sums[3], kStride);
    }
    return store_sums<kRowTiles * kTileRows, kPanels>(a_, sums, row, size_, panel);
  }

  /// Computes sums of rows [row, row + size_) by kPanels panels, in tiles 0 to 3.
  template <uint32_t kRowTiles, uint32_t kPanels>
  BANTAM_INLINE void multiply(uint32_t row, const int8_t* w, const int8_t* last) {
    const size_t panel_bytes = size_t{a_.k} * 16;
    const int8_t* x = a_.x + row * a_.x_stride;
    clear_tile<0>();
    clear_tile<1>();
    clear_tile<2>();
    clear_tile<3>();
    for (uint32_t i = 0; i < whole_; ++i) {
      step<kRowTiles, kPanels>(x, a_.x_stride, w, panel_bytes);
      x += kTileBytes;
      w += kTileRows * kTileBytes;
    }
    if (rest_ == 0) return;
    alignas(64) int8_t rows[kMostRows][kTileBytes] = {};
    for (uint32_t r = 0; r < size_; ++r) memcpy(rows[r], x + r * a_.x_stride, rest_);
    step<kRowTiles, kPanels>(rows[0], kTileBytes, last, kTileRows * kTileBytes);
  }

  /// Processes 64 inputs.
  template <uint32_t kRowTiles, uint32_t kPanels>
  BANTAM_INLINE void step(const int8_t* x, size_t x_stride, const int8_t* w, size_t panel_bytes) {
    load_tile<4>(x, x_stride);
    if constexpr (kRowTiles == 2) {
      load_tile<6>(w, kTileBytes);
      add_products<0, 4, 6>();
      if constexpr (kPanels == 2) {
        load_tile<7>(w + panel_bytes, kTileBytes);
        add_products<1, 4, 7>();
      }
      load_tile<5>(x + first_ * x_stride, x_stride);
      add_products<2, 5, 6>();
      if constexpr (kPanels == 2) add_products<3, 5, 7>();
    } else {
      load_tile<5>(w, kTileBytes);
      add_products<0, 4, 5>();
      if constexpr (kPanels == 4) {
        load_tile<6>(w + panel_bytes, kTileBytes);
        add_products<1, 4, 6>();
        load_tile<7>(w + 2 * panel_bytes, kTileBytes);
        add_products<2, 4, 7>();
        load_tile<5>(w + 3 * panel_bytes, kTileBytes);
        add_products<3, 4, 5>();
      }
    }
  }

  const Layer& a_;
  const uint32_t whole_, rest_;  // steps of 64 inputs, and remaining inputs
  const uint32_t groups_, size_, second_, first_;
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_AMX_LINEAR_H_
