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

  BANTAM_INLINE void scores_of_page(uint32_t page) {
    const float* keys = reinterpret_cast<const float*>(a.key_pages + page * a.key_page_stride);
    F32x16 acc[kRows][1];
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) acc[r][0] = splat(0.0f);
    fma_rows(acc, static_cast<const float*>(a.q) + first * a.q_stride, a.q_stride, keys, 0, a.head_width);
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      F32x16 v = acc[r][0] * splat(a.scale);
      if (!this->whole(page)) v = select(visible[r].lanes(page), v, splat(kMinusInfinity));
      store(this->score(r, page), v);
    }
  }

  /// Scores of one query to exp(score - largest). False: something is not finite.
  BANTAM_INLINE bool probabilities_of(uint32_t r) {
    F32x16 best[1];
    this->template largest_scores<1>(r, best);
    F32x16 total = splat(0.0f);
    for (uint32_t page = page_begin; page < page_end; ++page) {
      const F32x16 p = exp_below_88(load(this->score(r, page)) - best[0]);
      total = total + p;
      store(this->score(r, page), p);
    }
    l[r] = visible[r].empty() ? 1.0f : this->sum_from_begin(total);
    return is_finite(l[r]);
  }

  /// kCount queries from r on, which see the same keys; output columns [16 * panel, 16 * panel + 16).
  template <uint32_t kCount>
  BANTAM_INLINE bool values_of(uint32_t r, uint32_t panel) {
    F32x16 acc[kCount];
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) acc[i] = splat(0.0f);
    const uint32_t width = pad16(a.head_width);
    const float* p = this->score(r, this->first_page);
    for (uint32_t j = visible[r].begin; j < visible[r].end; ++j) {
      const float* page = reinterpret_cast<const float*>(a.value_pages + (j / 16) * a.value_page_stride);
      const F32x16 value = load(page + size_t{j % 16} * width + panel * 16);
      const uint32_t at = j - this->first_page * 16;
      BANTAM_UNROLL
      for (uint32_t i = 0; i < kCount; ++i) acc[i] = fma(splat(p[i * this->stride + at]), value, acc[i]);
    }
    I32x16 worst = splat(int32_t{0});
    const uint32_t left = a.head_width - panel * 16;
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) {
      const F32x16 v = acc[i] / splat(l[r + i]);
      float* y = a.y + (first + r + i) * a.y_stride + panel * 16;
      if (left >= 16) {
        worst = max(worst, magnitude_bits(v));
        store(y, v);
      } else {
        worst = max(worst, magnitude_bits(keep(lanes_between(0, static_cast<int32_t>(left)), v)));
        store_first(y, v, left);
      }
    }
    return largest(worst) < kInfinityBits;
  }

  BANTAM_INLINE bool run() {
    bool finite = true;
    for (uint32_t page = page_begin; page < page_end; ++page) scores_of_page(page);
    for (uint32_t r = 0; r < kRows; ++r) {
      if (!probabilities_of(r)) return false;
    }
    for (uint32_t panel = 0; panel < pad16(a.head_width) / 16; ++panel) {
      if (this->same_keys) {
        finite &= values_of<kRows>(0, panel);
      } else {
        for (uint32_t r = 0; r < kRows; ++r) finite &= values_of<1>(r, panel);
      }
    }
    return finite;
  }
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_ATTENTION_F32_H_
