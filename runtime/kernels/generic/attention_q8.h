// int8 attention: Q.K and P.V are the dot products of the linear kernel over pages; see Attention in kernels.h.
#ifndef BANTAM_KERNELS_GENERIC_ATTENTION_Q8_H_
#define BANTAM_KERNELS_GENERIC_ATTENTION_Q8_H_

#include "kernels/generic/attention.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

template <uint32_t kRows>
struct AttentionQ8 : AttentionBlock<kRows> {
  using Base = AttentionBlock<kRows>;
  using Base::a;
  using Base::first;
  using Base::page_begin;
  using Base::page_end;
  using Base::visible;
  using Base::Base;

  float factor[kRows];  // what the integer sum over values is multiplied with

  BANTAM_INLINE void scores_of_page(uint32_t page) {
    const uint32_t quads = a.head_width / 4;
    const uint32_t rest = a.head_width % 4;
    const size_t tile_bytes = size_t{pad4(a.head_width)} * 16;
    const uint8_t* keys = a.key_pages + page * a.key_page_stride;
    const int8_t* tiles = reinterpret_cast<const int8_t*>(keys);
    const int8_t* q = static_cast<const int8_t*>(a.q) + first * a.q_stride;

    Accumulator acc[kRows][1];
    start_rows(acc, 0, reinterpret_cast<const int32_t*>(keys + tile_bytes + 64));
    dot_rows(acc, q, a.q_stride, tiles, 0, quads);
    if (rest != 0) {
      const Weights weights = load_weights(tiles + size_t{quads} * 64);
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        int8_t last[4] = {};
        memcpy(last, q + r * a.q_stride + quads * 4, rest);
        acc[r][0].add(signed_quad(last), weights);
      }
    }
    const F32x16 k_scale = load(reinterpret_cast<const float*>(keys + tile_bytes));
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      const float q_scale = a.q_scale[(first + r) * a.q_scale_stride] * a.scale;
      this->put_score(r, page, to_f32(acc[r][0].get()) * splat(q_scale) * k_scale);
    }
  }

  /// Scores of one query to u8 probabilities. False: something is not finite.
  BANTAM_INLINE bool probabilities_of(uint32_t r) {
    const F32x16 best = this->largest_score(r);
    const size_t scale_at = size_t{pad16(a.head_width)} * 16;
    F32x16 total = splat(0.0f);
    I32x16 worst = splat(int32_t{0});
    for (uint32_t page = page_begin; page < page_end; ++page) {
      const F32x16 p = exp_below_88(load(this->score(r, page)) - best);
      total = total + p;
      const uint8_t* values = a.value_pages + page * a.value_page_stride;
      F32x16 w = p * load(reinterpret_cast<const float*>(values + scale_at));
      if (!visible[r].covers(page)) w = keep(visible[r].lanes(page), w);
      worst = max(worst, magnitude_bits(w));
      store(this->score(r, page), w);
    }
    const float l = this->sum_from_begin(total);
    const int32_t m = largest(worst);
    if (m >= kInfinityBits || !is_finite(l)) return false;
    const float largest_w = float_of_bits(m);
    const F32x16 inverse = splat(m < kTinyBits ? 0.0f : 255.0f / largest_w);
    factor[r] = largest_w / 255.0f / l;
    for (uint32_t page = page_begin; page < page_end; ++page) {
      store_bytes(this->probability(r, page), quantize(load(this->score(r, page)), inverse));
    }
    return true;
  }

  BANTAM_INLINE void no_probabilities(uint32_t r) {
    memset(this->probability(r, page_begin), 0, size_t{page_end - page_begin} * 16);
    factor[r] = 0.0f;
  }

  /// Output columns [16 * panel, 16 * (panel + kPanels)).
  template <uint32_t kPanels>
  BANTAM_INLINE bool values_of(uint32_t panel) {
    Accumulator acc[kRows][kPanels];
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) acc[r][p] = Accumulator(splat(int32_t{0}));
    }
    for (uint32_t page = page_begin; page < page_end; ++page) {
      const int8_t* values = reinterpret_cast<const int8_t*>(a.value_pages + page * a.value_page_stride) + panel * 256;
      const uint8_t* u = this->probability(0, page);
      BANTAM_UNROLL
      for (uint32_t quad = 0; quad < 4; ++quad) {
        Weights weights[kPanels];
        BANTAM_UNROLL
        for (uint32_t p = 0; p < kPanels; ++p) weights[p] = load_weights(values + p * 256 + quad * 64);
        BANTAM_UNROLL
        for (uint32_t r = 0; r < kRows; ++r) {
          const UnsignedQuad q = unsigned_quad(u + r * this->stride + quad * 4);
          BANTAM_UNROLL
          for (uint32_t p = 0; p < kPanels; ++p) acc[r][p].add(q, weights[p]);
        }
      }
    }
    I32x16 worst = splat(int32_t{0});
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      float* y = a.y + (first + r) * a.y_stride + panel * 16;
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) {
        const uint32_t left = a.head_width - (panel + p) * 16;
        const F32x16 v = to_f32(acc[r][p].get()) * splat(factor[r]);
        worst = max(worst, magnitude_bits(v));
        if (left >= 16) {
          store(y + p * 16, v);
        } else {
          store_first(y + p * 16, v, left);
        }
      }
    }
    return largest(worst) < kInfinityBits;
  }

  BANTAM_INLINE bool run() {
    bool finite = true;
    for (uint32_t page = page_begin; page < page_end; ++page) scores_of_page(page);
    for (uint32_t r = 0; r < kRows; ++r) {
      if (visible[r].empty()) {
        no_probabilities(r);
      } else if (!probabilities_of(r)) {
        return false;
      }
    }
    constexpr uint32_t kGroup = block_panels(kRows);
    const uint32_t panels = pad16(a.head_width) / 16;
    uint32_t panel = 0;
    for (; panel + kGroup <= panels; panel += kGroup) finite &= values_of<kGroup>(panel);
    for (; panel < panels; ++panel) finite &= values_of<1>(panel);
    return finite;
  }
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_ATTENTION_Q8_H_
