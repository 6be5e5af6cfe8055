// int8 attention, from scores to probabilities; see Attention in kernels.h. Q.K and P.V are the dot products of the
// linear kernel over pages.
#ifndef BANTAM_KERNELS_GENERIC_SOFTMAX_Q8_H_
#define BANTAM_KERNELS_GENERIC_SOFTMAX_Q8_H_

#include "kernels/generic/attention.h"
#include "kernels/generic/passes.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

template <uint32_t kRows>
struct SoftmaxQ8 : AttentionBlock<kRows> {
  using Base = AttentionBlock<kRows>;
  using Base::a;
  using Base::first;
  using Base::page_begin;
  using Base::page_end;
  using Base::visible;

  F32 best[kRows];   // the largest scores so far, lane by lane
  float factor[16];  // multiplies the integer sum over values

  using Base::Base;

  BANTAM_INLINE void begin() {
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) best[r] = splat(kMinusInfinity);
  }

  /// Takes the scores of a vector of keys of page `page`, from `lane` on, without the query's scale, which is the same
  /// for all keys. first_sees: the keys that the block's first query attends to; whole: all queries attend to all of
  /// them.
  BANTAM_INLINE void take_scores(uint32_t r, uint32_t page, uint32_t lane, bool whole, LaneMask first_sees, I32 sums,
                                 F32 k_scale) {
    const F32 v = to_f32(sums) * k_scale;
    note_scores(r, page, lane, whole, first_sees, v);
    store(this->score(r, page) + lane, v);
  }
  BANTAM_INLINE void note_scores(uint32_t r, uint32_t page, uint32_t lane, bool whole, LaneMask first_sees, F32 v) {
    if (!whole) v = select(this->seen(r, page, lane, first_sees), v, splat(kMinusInfinity));
    best[r] = max(v, best[r]);
  }

  /// Converts scores to u8 probabilities; for all queries together, because each is a chain of dependent steps. Returns
  /// false if a value is not finite.
  BANTAM_INLINE bool probabilities() {
    const size_t scale_at = size_t{pad16(a.head_width)} * 16;
    Sums total[kRows];
    I32 worst[kRows];
    float q_scale[16] = {};
    float offset[16];
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kRows; ++i) {
      q_scale[i] = a.biased ? 1.0f : a.q_scale[(first + i) * a.q_scale_stride] * a.scale;
      total[i] = Sums{};
      worst[i] = splat(int32_t{0});
    }
    const F32 to_base_2 = load(q_scale) * splat(1.44269504f);
    store(q_scale, to_base_2);
    F32 most = largest_of(best) * to_base_2;
    const F32 sink = splat(a.sink * 1.44269504f);
    if (linked::kSinks && a.sunk) most = max(most, sink);
    store(offset, splat(0.0f) - most);

    for (uint32_t page = page_begin; page < page_end; ++page) {
      const float* v_scales = reinterpret_cast<const float*>(this->values(page) + scale_at);
      const bool whole = kLanes > 1 && this->whole(page);  // with one lane, the test costs as much as it saves
      float* first_scores = this->score(0, page);
      for_sixteen([&](uint32_t lane) __attribute__((always_inline)) {
        const F32 v_scale = load(v_scales + lane);
        const LaneMask first_sees = this->seen(0, page, lane);
        BANTAM_UNROLL
        for (uint32_t i = 0; i < kRows; ++i) {
          float* score = first_scores + i * this->stride + lane;
          F32 p = exp2_of_score(fma(load(score), splat(q_scale[i]), splat(offset[i])));
          F32 w = p * v_scale;
          if (!whole) {
            const LaneMask lanes = this->seen(i, page, lane, first_sees);
            p = keep(lanes, p);
            w = keep(lanes, w);
          }
          F32& sum = partial(total[i], this->element(page * 16 + lane));
          sum = sum + p;
          worst[i] = max(worst[i], magnitude_bits(w));
          store(score, w);
        }
      });
    }
    F32 l = this->sums_from_begin(total);
    if (linked::kSinks && a.sunk) l = l + exp2_of_score(sink + load(offset));
    const F32 m = from_bits(largest_of(worst));
    float inverse[16];
    store(inverse, select(less(m, splat(kTiny)), splat(0.0f), splat(255.0f) / m));
    store(factor, m / splat(255.0f) / l);
    bool finite = true;
    for (uint32_t i = 0; i < kRows; ++i) {
      if (visible[i].empty()) {
        factor[i] = 0.0f;
        continue;
      }
      finite &= is_finite(factor[i]);
    }
    for (uint32_t page = page_begin; page < page_end; ++page) {
      BANTAM_UNROLL
      for (uint32_t i = 0; i < kRows; ++i) {
#if defined(BANTAM_KERNEL_ONE_LANE)
        quantize_row(this->score(i, page), 16, inverse[i], reinterpret_cast<int8_t*>(this->probability(i, page)));
#else
        for_sixteen([&](uint32_t lane) __attribute__((always_inline)) {
          const F32 w = load(this->score(i, page) + lane);
          store_bytes(this->probability(i, page) + lane, quantize(w, splat(inverse[i])));
        });
#endif
      }
    }
    return finite;
  }
};

/// Computes the scores of query `query` of the call, the r-th of a block that attends to pages [page_begin, page_end),
/// from the sums stored in their place (if biased, the scores are already there), then its probabilities; `factor` as
/// in SoftmaxQ8. Returns false if a value is not finite.
BANTAM_INLINE bool weigh_sums(const Attention& a, uint32_t query, uint32_t r, uint32_t page_begin, uint32_t page_end,
                              float* factor) {
  const size_t scale_at = size_t{pad4(a.head_width)} * 16;
  SoftmaxQ8<1> one(a, query);
  one.begin();
  one.move_to(r, page_begin, page_end);
  for (uint32_t page = page_begin; page < page_end; ++page) {
    const bool whole = kLanes > 1 && one.whole(page);
    const float* scale = reinterpret_cast<const float*>(one.keys(page) + scale_at);
    float* scores = one.score(0, page);
    for (uint32_t lane = 0; lane < 16; lane += kLanes) {
      F32 score = load(scores + lane);
      if (!linked::kBias || !a.biased) {
        score = to_f32(bits(score)) * load(scale + lane);
        store(scores + lane, score);
      }
      one.note_scores(0, page, lane, whole, one.seen(0, page, lane), score);
    }
  }
  const bool finite = one.probabilities();
  *factor = one.factor[0];
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_SOFTMAX_Q8_H_
