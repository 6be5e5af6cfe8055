// f32 attention; see Attention in kernels.h.
#ifndef BANTAM_KERNELS_GENERIC_ATTENTION_F32_H_
#define BANTAM_KERNELS_GENERIC_ATTENTION_F32_H_

#include "kernels/generic/attention.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

template <uint32_t kRows>
struct AttentionF32 : AttentionBlock<kRows> {
  using Base = AttentionBlock<kRows>;
  using Base::a;
  using Base::Base;
  using Base::first;
  using Base::page_begin;
  using Base::page_end;
  using Base::visible;

  float l[kRows];

  /// Computes the scores of pages [page, page + kPages).
  template <uint32_t kPages>
  BANTAM_INLINE void scores_of_pages(uint32_t page) {
    const float* keys = reinterpret_cast<const float*>(this->keys(page));
    Panel acc[kRows][kPages];
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPages; ++p) acc[r][p] = Panel(0.0f);
    }
    fma_rows(acc, static_cast<const float*>(a.q) + first * a.q_stride, a.q_stride, keys,
             a.key_page_stride / sizeof(float), a.head_width);
    if (linked::kBias && a.biased) {
      store_scores<true>(page, acc);
    } else {
      store_scores<false>(page, acc);
    }
  }

  template <uint32_t kPages>
  BANTAM_INLINE void scores_of(Pages<kPages>, uint32_t page) {
    scores_of_pages<kPages>(page);
  }

  template <bool kBiased, uint32_t kPages>
  BANTAM_INLINE void store_scores(uint32_t page, const Panel (&products)[kRows][kPages]) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPages; ++p) {
      const bool whole = this->whole(page + p);
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        BANTAM_UNROLL
        for (uint32_t u = 0; u < kVectors; ++u) {
          const uint32_t lane = u * kLanes;
          float* score = this->score(r, page + p) + lane;
          F32 v = products[r][p].v[u];
          v = kBiased ? capped(a, fma(v, splat(a.scale), load(score))) : v * splat(a.scale);
          if (!whole) v = select(visible[r].lanes((page + p) * 16 + lane), v, splat(kMinusInfinity));
          store(score, v);
        }
      }
    }
  }

  /// Replaces the scores of kCount queries from r on by exp(score - largest); together, because each is a chain of
  /// dependent steps. Returns false if a value is not finite.
  template <uint32_t kCount>
  BANTAM_INLINE bool probabilities_of(uint32_t r) {
    F32 best[kCount];
    Sums total[kCount];
    this->template largest_scores<kCount>(r, best);
    BANTAM_UNROLL
    for (uint32_t i = 0; linked::kSinks && i < kCount; ++i) {
      if (a.sunk && !visible[r + i].empty()) best[i] = max(best[i], splat(a.sink));
    }
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) total[i] = Sums{};
    for (uint32_t page = page_begin; page < page_end; ++page) {
      BANTAM_UNROLL
      for (uint32_t i = 0; i < kCount; ++i) {
        for_sixteen([&](uint32_t lane) __attribute__((always_inline)) {
          float* score = this->score(r + i, page) + lane;
          F32& sum = partial(total[i], this->element(page * 16 + lane));
          const F32 p = exp_below_88(load(score) - best[i]);
          sum = sum + p;
          store(score, p);
        });
      }
    }
    float sums[16];
    store(sums, this->sums_from_begin(total));
    BANTAM_UNROLL
    for (uint32_t i = 0; linked::kSinks && i < kCount; ++i) {
      if (!a.sunk) continue;
      float p[16];
      store(p, exp_below_88(splat(a.sink) - best[i]));
      sums[i] += p[0];
    }
    bool finite = true;
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) {
      l[r + i] = visible[r + i].empty() ? 1.0f : sums[i];
      finite &= is_finite(l[r + i]);
    }
    return finite;
  }

  /// Computes output columns [16 * panel, 16 * (panel + kPanels)) of kCount queries from r on, which attend to the same
  /// keys.
  template <uint32_t kCount, uint32_t kPanels>
  BANTAM_INLINE bool values_of(uint32_t r, uint32_t panel) {
    Panel acc[kCount][kPanels];
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) {
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) acc[i][p] = Panel(0.0f);
    }
    const uint32_t width = pad16(a.head_width);
    const float* weights = this->score(r, this->first_page);
    for (uint32_t j = visible[r].begin; j < visible[r].end;) {
      const float* row = reinterpret_cast<const float*>(this->values(j / 16)) + size_t{j % 16} * width + panel * 16;
      const uint32_t page_ends = (j / 16 + 1) * 16;
      const uint32_t end = page_ends < visible[r].end ? page_ends : visible[r].end;
      const float* weight = weights + (j - this->first_page * 16);
      for (; j < end; ++j, row += width, ++weight) {
        Panel value[kPanels];
        BANTAM_UNROLL
        for (uint32_t p = 0; p < kPanels; ++p) value[p] = Panel(row + p * 16);
        BANTAM_UNROLL
        for (uint32_t i = 0; i < kCount; ++i) {
          const F32 times = splat(weight[i * this->stride]);
          BANTAM_UNROLL
          for (uint32_t p = 0; p < kPanels; ++p) {
            BANTAM_UNROLL
            for (uint32_t u = 0; u < kVectors; ++u) acc[i][p].v[u] = fma(times, value[p].v[u], acc[i][p].v[u]);
          }
        }
      }
    }
    I32 worst = splat(int32_t{0});
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) {
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) {
        BANTAM_UNROLL
        for (uint32_t u = 0; u < kVectors; ++u) {
          const uint32_t column = (panel + p) * 16 + u * kLanes;
          const F32 v = acc[i][p].v[u] / splat(this->l[r + i]);
          float* y = a.y + (first + r + i) * a.y_stride + column;
          if (column + kLanes <= a.head_width) {
            worst = max(worst, magnitude_bits(v));
            store(y, v);
          } else if constexpr (kLanes > 1) {
            const uint32_t left = a.head_width - column;
            worst = max(worst, magnitude_bits(keep(lanes_between(0, static_cast<int32_t>(left)), v)));
            store_first(y, v, left);
          }
        }
      }
    }
    return largest(worst) < kInfinityBits;
  }

  template <uint32_t kPanels>
  BANTAM_INLINE bool all_values_of(uint32_t panel) {
    if (this->same_keys) return values_of<kRows, kPanels>(0, panel);
    bool finite = true;
    for (uint32_t r = 0; r < kRows; ++r) finite &= values_of<1, kPanels>(r, panel);
    return finite;
  }

  BANTAM_INLINE bool run() {
    constexpr uint32_t kTogether = kRows < 4 ? kRows : 4;
    constexpr uint32_t kGroup = block_panels_f32(kRows);
    this->template for_pages<kGroup>([&](auto pages, uint32_t page)
                                         __attribute__((always_inline)) { this->scores_of(pages, page); });
    bool finite = true;
    uint32_t query = 0;
    for (; query + kTogether <= kRows; query += kTogether) finite &= probabilities_of<kTogether>(query);
    for (; query < kRows; ++query) finite &= probabilities_of<1>(query);
    if (!finite) return false;
    constexpr uint32_t kPanels = kGroup < 2 ? 1 : 2;
    const uint32_t panels = pad16(a.head_width) / 16;
    uint32_t panel = 0;
    for (; panel + kPanels <= panels; panel += kPanels) finite &= all_values_of<kPanels>(panel);
    for (; panel < panels; ++panel) finite &= all_values_of<1>(panel);
    return finite;
  }
};

inline bool attention_f32(const Attention& a) {
  return attention_blocks<AttentionF32, many_queries(kMaxRowsF32), many_queries(kMaxRowsF32)>(a);
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_ATTENTION_F32_H_
