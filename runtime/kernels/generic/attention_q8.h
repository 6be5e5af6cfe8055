// int8 attention: Q.K and P.V are the dot products of the linear kernel over pages; see Attention in kernels.h.
#ifndef BANTAM_KERNELS_GENERIC_ATTENTION_Q8_H_
#define BANTAM_KERNELS_GENERIC_ATTENTION_Q8_H_

#include "kernels/generic/attention.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

template <uint32_t kRows>
struct AttentionQ8 : AttentionBlock<kRows> {
  using Base = AttentionBlock<kRows>;
  using Base::a;
  using Base::Base;
  using Base::first;
  using Base::page_begin;
  using Base::page_end;
  using Base::visible;

  float q_scale[kRows];  // times the scale of the scores
  int32_t row_starts[kRows];
  float factor[kRows];  // what the integer sum over values is multiplied with

  /// Scores of pages [page, page + kPages).
  template <uint32_t kPages>
  BANTAM_INLINE void scores_of_pages(uint32_t page) {
    const uint32_t quads = a.head_width / 4;
    const uint32_t rest = a.head_width % 4;
    const size_t tile_bytes = size_t{pad4(a.head_width)} * 16;
    const uint8_t* keys = a.key_pages + page * a.key_page_stride;
    const int8_t* tiles = reinterpret_cast<const int8_t*>(keys);
    const int8_t* q = static_cast<const int8_t*>(a.q) + first * a.q_stride;

    Accumulator acc[kRows][kPages];
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPages; ++p) {
      start_rows(acc, p, reinterpret_cast<const int32_t*>(keys + p * a.key_page_stride + tile_bytes + 64), row_starts);
    }
    dot_rows(acc, q, a.q_stride, tiles, a.key_page_stride, quads);
    if (rest != 0) {
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        int8_t last[4] = {};
        memcpy(last, q + r * a.q_stride + quads * 4, rest);
        BANTAM_UNROLL
        for (uint32_t p = 0; p < kPages; ++p) {
          acc[r][p].add(signed_quad(last), load_weights(tiles + p * a.key_page_stride + size_t{quads} * 64));
        }
      }
    }
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPages; ++p) {
      const F32x16 k_scale = load(reinterpret_cast<const float*>(keys + p * a.key_page_stride + tile_bytes));
      const bool whole = this->whole(page + p);
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        F32x16 v = to_f32(acc[r][p].get()) * splat(q_scale[r]) * k_scale;
        if (!whole) v = select(visible[r].lanes(page + p), v, splat(kMinusInfinity));
        store(this->score(r, page + p), v);
      }
    }
  }

  /// Scores of kCount queries from r on to u8 probabilities; together, because each is a chain of dependent steps.
  /// False: something is not finite.
  template <uint32_t kCount>
  BANTAM_INLINE bool probabilities_of(uint32_t r) {
    const size_t scale_at = size_t{pad16(a.head_width)} * 16;
    F32x16 best[kCount];
    F32x16 total[kCount];
    I32x16 worst[kCount];
    this->template largest_scores<kCount>(r, best);
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) {
      total[i] = splat(0.0f);
      worst[i] = splat(int32_t{0});
    }
    for (uint32_t page = page_begin; page < page_end; ++page) {
      const uint8_t* values = a.value_pages + page * a.value_page_stride;
      const F32x16 v_scale = load(reinterpret_cast<const float*>(values + scale_at));
      const bool whole = this->whole(page);
      BANTAM_UNROLL
      for (uint32_t i = 0; i < kCount; ++i) {
        float* score = this->score(r + i, page);
        const F32x16 p = exp_below_88(load(score) - best[i]);
        total[i] = total[i] + p;
        F32x16 w = p * v_scale;
        if (!whole) w = keep(visible[r + i].lanes(page), w);
        worst[i] = max(worst[i], magnitude_bits(w));
        store(score, w);
      }
    }
    bool finite = true;
    F32x16 inverse[kCount];
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) {
      const float l = this->sum_from_begin(total[i]);
      const int32_t m = largest(worst[i]);
      finite &= m < kInfinityBits && is_finite(l);
      inverse[i] = splat(m < kTinyBits ? 0.0f : 255.0f / float_of_bits(m));
      factor[r + i] = visible[r + i].empty() ? 0.0f : float_of_bits(m) / 255.0f / l;
    }
    for (uint32_t page = page_begin; page < page_end; ++page) {
      BANTAM_UNROLL
      for (uint32_t i = 0; i < kCount; ++i) {
        store_bytes(this->probability(r + i, page), quantize(load(this->score(r + i, page)), inverse[i]));
      }
    }
    return finite;
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
    constexpr uint32_t kTogether = kRows < 4 ? kRows : 4;
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) q_scale[r] = a.q_scale[(first + r) * a.q_scale_stride] * a.scale;
    measure_rows(row_starts, static_cast<const int8_t*>(a.q) + first * a.q_stride, a.q_stride, a.head_width);
    uint32_t page = page_begin;
    for (; page + block_panels(kRows) <= page_end; page += block_panels(kRows)) {
      scores_of_pages<block_panels(kRows)>(page);
    }
    for (; page < page_end; ++page) scores_of_pages<1>(page);
    bool finite = true;
    uint32_t query = 0;
    for (; query + kTogether <= kRows; query += kTogether) finite &= probabilities_of<kTogether>(query);
    for (; query < kRows; ++query) finite &= probabilities_of<1>(query);
    if (!finite) return false;
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
