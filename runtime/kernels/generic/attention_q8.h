// int8 attention on 16 lanes: sums stay in registers.
#ifndef BANTAM_KERNELS_GENERIC_ATTENTION_Q8_H_
#define BANTAM_KERNELS_GENERIC_ATTENTION_Q8_H_

#include "kernels/generic/dot_block.h"
#include "kernels/generic/softmax_q8.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

template <uint32_t kRows>
struct AttentionQ8 : SoftmaxQ8<kRows> {
  using Base = SoftmaxQ8<kRows>;
  using Base::a;
  using Base::Base;
  using Base::first;
  using Base::page_begin;
  using Base::page_end;
  using Base::visible;

  int32_t query_starts[kRows];

  /// Computes the scores of pages [page, page + kPages), without the query's scale, which is the same for all keys.
  template <uint32_t kPages>
  BANTAM_INLINE void scores_of_pages(uint32_t page) {
    const uint32_t quads = a.head_width / 4;
    const uint32_t rest = a.head_width % 4;
    const size_t tile_bytes = size_t{pad4(a.head_width)} * 16;
    const uint8_t* keys = this->keys(page);
    const int8_t* tiles = reinterpret_cast<const int8_t*>(keys);
    const int8_t* q = static_cast<const int8_t*>(a.q) + first * a.q_stride;

    RegisterBlock<kRows, kPages> block;
    block.start(query_starts);
    block.add_keys(q, a.q_stride, tiles, a.key_page_stride, quads);
    if (rest != 0) {
      // A head may begin anywhere in its row, so the bytes after it are not zero.
      int8_t last[kRows * 4] = {};
      for (uint32_t r = 0; r < kRows; ++r) memcpy(last + r * 4, q + r * a.q_stride + quads * 4, rest);
      block.add_keys(last, 4, tiles + size_t{quads} * 64, a.key_page_stride, 1);
    }
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPages; ++p) {
      const F32 k_scale = load(reinterpret_cast<const float*>(keys + p * a.key_page_stride + tile_bytes));
      const bool whole = this->whole(page + p);
      const LaneMask first_sees = this->seen(0, page + p, 0);
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        this->take_scores(r, page + p, 0, whole, first_sees, block.get(r, p), k_scale);
      }
    }
  }

  /// A single query, i.e. a step of a decoder, waits for memory: pages of a head are so far apart that the processor
  /// does not predict the next one. Prefetches the values of these pages, which are needed next, and the keys of the
  /// same number of following pages.
  template <uint32_t kPages>
  BANTAM_INLINE void fetch_from(uint32_t page) {
    const size_t key_bytes = size_t{pad4(a.head_width)} * 16 + 64, value_bytes = size_t{pad16(a.head_width)} * 16 + 64;
    for (uint32_t p = page; p < page + kPages; ++p) {
      for (size_t i = 0; i < value_bytes; i += 64) prefetch(this->values(p) + i);
      if (p + kPages >= page_end) continue;
      for (size_t i = 0; i < key_bytes; i += 64) prefetch(this->keys(p + kPages) + i);
    }
  }

  /// While values are summed, the cache is otherwise idle: prefetches the first keys of the next head, which follow
  /// these.
  BANTAM_INLINE void fetch_next_head(uint32_t page) {
    const size_t key_bytes = size_t{pad4(a.head_width)} * 16 + 64;
    for (size_t i = 0; i < key_bytes; i += 64) prefetch(this->keys(page) + key_bytes + i);
  }

  template <uint32_t kPages>
  BANTAM_INLINE void scores_of(Pages<kPages>, uint32_t page) {
    if constexpr (kRows == 1) fetch_from<kPages>(page);
    scores_of_pages<kPages>(page);
  }

  BANTAM_INLINE void multiply_keys() {
    this->template for_pages<block_panels(kRows)>([&](auto pages, uint32_t page)
                                                      __attribute__((always_inline)) { this->scores_of(pages, page); });
  }

  /// Adds the products to the biases to get all scores: the biases of a page are saved while its products overwrite
  /// them.
  BANTAM_INLINE void add_products_to_biases() {
    F32 most[kRows];
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) most[r] = splat(kMinusInfinity);
    for (uint32_t page = page_begin; page < page_end; ++page) {
      float biases[kRows][16];
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) store(biases[r], load(this->score(r, page)));
      scores_of_pages<1>(page);
      const bool whole = this->whole(page);
      const LaneMask first_sees = this->seen(0, page, 0);
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        const float times = a.q_scale[(first + r) * a.q_scale_stride] * a.scale;
        this->best[r] = most[r];
        const F32 v = capped(a, fma(load(this->score(r, page)), splat(times), load(biases[r])));
        this->note_scores(r, page, 0, whole, first_sees, v);
        store(this->score(r, page), v);
        most[r] = this->best[r];
      }
    }
  }

  /// Computes output columns [16 * panel, 16 * (panel + kPanels)).
  template <uint32_t kPanels>
  BANTAM_INLINE bool values_of(uint32_t panel) {
    RegisterBlock<kRows, kPanels> block;
    block.clear();
    for (uint32_t page = page_begin; page < page_end; ++page) {
      const int8_t* values = reinterpret_cast<const int8_t*>(this->values(page)) + panel * 256;
      if (kRows == 1 && panel == 0) fetch_next_head(page);
      block.add_page(this->probability(0, page), this->stride * sizeof(float), values, 256);
    }
    const bool all_columns = (panel + kPanels) * 16 <= a.head_width;
    I32 worst = splat(int32_t{0});
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      float* y = a.y + (first + r) * a.y_stride + panel * 16;
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) {
        const F32 v = to_f32(block.get(r, p)) * splat(this->factor[r]);
        worst = max(worst, magnitude_bits(v));
        if (all_columns) {
          store(y + p * 16, v);
        } else {
          const uint32_t left = a.head_width - (panel + p) * 16;
          store_first(y + p * 16, v, left < 16 ? left : 16);
        }
      }
    }
    return largest(worst) < kInfinityBits;
  }

  BANTAM_INLINE bool run() {
    this->begin();
    measure_queries(query_starts, static_cast<const int8_t*>(a.q) + first * a.q_stride, a.q_stride, a.head_width);
    if (linked::kBias && a.biased) {
      add_products_to_biases();
    } else {
      multiply_keys();
    }
    if (!this->probabilities()) return false;
    bool finite = true;
    constexpr uint32_t kMost = block_panels(kRows);
    constexpr uint32_t kGroup = kMost < 4 ? kMost : 4;  // most heads have 64 columns
    const uint32_t panels = pad16(a.head_width) / 16;
    uint32_t panel = 0;
    for (; panel + kGroup <= panels; panel += kGroup) finite &= values_of<kGroup>(panel);
    for (; panel < panels; ++panel) finite &= values_of<1>(panel);
    return finite;
  }
};

inline bool attention_q8(const Attention& a) {
  return attention_blocks<AttentionQ8, many_queries(kMaxRows), some_queries(kMaxRows)>(a);
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_ATTENTION_Q8_H_
