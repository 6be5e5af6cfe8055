// static_attention on 16 lanes: blocks of queries whose sums stay in registers, and integer softmax, a vector of keys
// at a time.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_STATIC_ATTENTION_VECTORS_H_
#define BANTAM_KERNELS_GENERIC_STATIC_STATIC_ATTENTION_VECTORS_H_

#include "kernels/generic/attention.h"
#include "kernels/generic/dot_block.h"
#include "kernels/generic/static/static_softmax.h"
#include "kernels/generic/static/static_store.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// static_exp2 of static_softmax.h in each lane: each constant is added inside the preceding product.
BANTAM_INLINE I32 static_exp2(I32 u) {
  const ShiftCount fifteen = shift_count(15);
  const Factors f = as_factors(shift_right_logical<11>(u) & splat(int32_t{0x7fff}));
  I32 p = shift_right(multiply_add(splat(kStaticExp2[0]), f, splat(kStaticExp2[1] * 32768)), fifteen);
  p = shift_right(multiply_add(p, f, splat(kStaticExp2[2] * 32768)), fifteen);
  p = shift_right(multiply_add(p, f, splat(kStaticExp2[3] * 32768)), fifteen);
  return shift_right_each(p, shift_right_logical<26>(u));
}

/// Scratch: scores in i32 as in AttentionBlock, which the u8 weights overwrite; then [query] signed queries, padded
/// with zeros to whole quads.
template <uint32_t kRows>
struct StaticAttentionBlock : AttentionBlock<kRows, StaticAttention> {
  using Base = AttentionBlock<kRows, StaticAttention>;
  using Base::a;
  using Base::Base;
  using Base::first;
  using Base::page_begin;
  using Base::page_end;
  using Base::visible;

  I32 best[kRows];  // the largest scores so far, per lane; then of the whole query
  I32 most;         // limit of the distance of a score to the best one
  int32_t factor[16];
  int32_t shift[16];  // shift of sums before the multiplication by the factor

  BANTAM_INLINE Sum* sums(uint32_t r, uint32_t page) const { return reinterpret_cast<Sum*>(this->score(r, page)); }
  BANTAM_INLINE uint32_t query_bytes() const { return pad4(a.head_width); }
  BANTAM_INLINE int8_t* queries() const { return reinterpret_cast<int8_t*>(this->scores + kRows * this->stride); }
  BANTAM_INLINE I32 where_seen(uint32_t r, uint32_t page, LaneMask first_sees, I32 on, int32_t off) const {
    return bits(select(this->seen(r, page, 0, first_sees), from_bits(on), from_bits(splat(off))));
  }

  BANTAM_INLINE void copy_queries() const {
    constexpr uint64_t kFlip = kOffsetXor * 0x0101010101010101u;
    for (uint32_t r = 0; r < kRows; ++r) {
      const int8_t* q = a.q + (first + r) * a.q_stride;
      int8_t* to = queries() + r * query_bytes();
      uint32_t i = 0;
      for (; i + 8 <= a.head_width; i += 8) {
        uint64_t eight;
        memcpy(&eight, q + i, 8);
        eight ^= kFlip;
        memcpy(to + i, &eight, 8);
      }
      for (; i < query_bytes(); ++i) to[i] = i < a.head_width ? stored_byte(q[i]) : int8_t{0};
    }
  }

  /// If dot products take keys as k + 128, all scores of a query are too large by the same number, which cancels in
  /// differences of scores.
  BANTAM_NOINLINE void take_scores() {
    copy_queries();
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) best[r] = splat(INT32_MIN);
    this->template for_pages<block_panels(kRows)>([&](auto pages, uint32_t page) __attribute__((always_inline)) {
      this->multiply_keys(pages, page);
    });
  }

  BANTAM_NOINLINE bool store_means() const {
    constexpr uint32_t kMost = block_panels(kRows) < 4 ? block_panels(kRows) : 4;
    const uint32_t panels = pad16(a.head_width) / 16;
    uint32_t panel = 0;
    for (; panel + kMost <= panels; panel += kMost) multiply_values<kMost>(panel);
    for (; panel < panels; ++panel) multiply_values<1>(panel);
    return true;
  }

  template <uint32_t kPages>
  BANTAM_INLINE void multiply_keys(Pages<kPages>, uint32_t page) {
    RegisterBlock<kRows, kPages> block;
    block.clear();
    block.add_keys(queries(), query_bytes(), reinterpret_cast<const int8_t*>(this->keys(page)), a.key_page_stride,
                   query_bytes() / 4);
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPages; ++p) {
      const bool whole = this->whole(page + p);
      const LaneMask first_sees = this->seen(0, page + p, 0);
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        const I32 sum = block.get(r, p);
        store(sums(r, page + p), sum);
        best[r] = max(best[r], whole ? sum : where_seen(r, page + p, first_sees, sum, INT32_MIN));
      }
    }
  }

  /// 2^15 times the weight relative to the best key.
  BANTAM_INLINE I32 exp2_of(uint32_t r, uint32_t page) const {
    return static_exp2(min_unsigned(best[r] - load(sums(r, page)), most) * splat(static_cast<int32_t>(a.multiplier)));
  }
  BANTAM_INLINE int8_t* weights(uint32_t r, uint32_t page) const {
    return reinterpret_cast<int8_t*>(this->probability(r, page));
  }

  /// Converts scores to weights, which overwrite them: the scores of a page are read first.
  BANTAM_NOINLINE void weigh() {
    most = splat(static_cast<int32_t>(a.multiplier == 0 ? 0x7fffffffu : 0x7fffffffu / a.multiplier));
    int32_t lanes[16];
    store(lanes, largest_of(best));
    I32 total[kRows];
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      best[r] = splat(lanes[r]);
      total[r] = splat(int32_t{0});
    }
    uint32_t page = page_begin;
    for (; page + 4 <= page_end && this->whole(page) && this->whole(page + 3); page += 4) {
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        const I32 e[4] = {exp2_of(r, page), exp2_of(r, page + 1), exp2_of(r, page + 2), exp2_of(r, page + 3)};
        const FourBytes w = times_255(e);
        store_four({weights(r, page), weights(r, page + 1), weights(r, page + 2), weights(r, page + 3)}, w);
        total[r] = add_bytes(total[r], w);
      }
    }
    for (; page < page_end; ++page) {
      const bool whole = this->whole(page);
      const LaneMask first_sees = this->seen(0, page, 0);
      BANTAM_UNROLL
      for (uint32_t begin = 0; begin < kRows; begin += 4) {
        I32 e[4];
        int8_t* to[4];
        BANTAM_UNROLL
        for (uint32_t i = 0; i < 4; ++i) {
          const uint32_t r = begin + i < kRows ? begin + i : kRows - 1;
          e[i] = exp2_of(r, page);
          if (!whole) e[i] = where_seen(r, page, first_sees, e[i], 0);
          to[i] = weights(r, page);
        }
        store_four(to, times_255(e));
        BANTAM_UNROLL
        for (uint32_t i = 0; i < 4; ++i) {
          const uint32_t r = begin + i;
          if (r < kRows) total[r] = total[r] + (load_i8(weights(r, page)) & splat(int32_t{255}));
        }
      }
    }
    means_of(across_lanes(
        total, [](const auto& x) __attribute__((always_inline)) { return sum(x); },
        [](const auto& x) __attribute__((always_inline)) { return sum_eight(x); }));
  }

  /// StaticMean of static_softmax.h in each lane. Totals are 0 or at least 255, the weight of the best key.
  BANTAM_INLINE void means_of(I32 total) {
    const I32 exponent = shift_right_logical<23>(bits(to_f32(shift_right_logical<8>(total))));
    const I32 above_8 = max(exponent - splat(int32_t{126}), splat(int32_t{0}));  // bits
    const I32 scaled = shift_right_logical<16>(shift_left_each(total, splat(int32_t{24}) - above_8));
    const I32 one = splat(int32_t{1} << 30);
    const I32 nearest = round_to_i32(to_f32(one) / to_f32(scaled));
    // The float quotient may be one too large: then the remainder is negative.
    const I32 rest = one - nearest * scaled;
    const I32 quotient = nearest - shift_right_logical<31>(rest);
    store(shift, above_8);
    store(factor, bits(select(less(splat(0.0f), to_f32(total)), from_bits(quotient), splat(0.0f))));
  }

  /// Computes output columns [16 * panel, 16 * (panel + kPanels)).
  template <uint32_t kPanels>
  BANTAM_INLINE void multiply_values(uint32_t panel) const {
    RegisterBlock<kRows, kPanels> block;
    block.clear();
    for (uint32_t page = page_begin; page < page_end; ++page) {
      const int8_t* values = reinterpret_cast<const int8_t*>(this->values(page)) + panel * 256;
      block.add_page(this->probability(0, page), this->stride * sizeof(int32_t), values, 256);
    }
    const RoundShift after(22);
    const auto value = [&](uint32_t r, uint32_t p) __attribute__((always_inline)) {
      const RoundShift before(static_cast<uint32_t>(shift[r]));
      return after.down(multiply_add(sat16(before(block.get(r, p))), splat_ints(factor[r]), after.half));
    };
    int8_t* y = a.y + first * a.y_stride + panel * 16;
    if ((panel + kPanels) * 16 > a.head_width) {
      for (uint32_t r = 0; r < kRows; ++r) {
        for (uint32_t p = 0; p < kPanels; ++p) {
          const uint32_t column = (panel + p) * 16;
          if (column >= a.head_width) break;
          store_ints_first(y + r * a.y_stride + p * 16, stored(sat8(value(r, p))), a.head_width - column);
        }
      }
      return;
    }
    store_static_bytes<kRows, kPanels>(
        y, a.y_stride, kRows, value, [](FourBytes bytes) __attribute__((always_inline)) { return limited(bytes); });
  }

  BANTAM_INLINE bool run() {
    take_scores();
    weigh();
    return store_means();
  }
};

inline bool static_attention(const StaticAttention& a) {
  if constexpr (!linked::kStatic) return false;
  return attention_blocks<StaticAttentionBlock, many_queries(kMaxRows), some_queries(kMaxRows)>(a);
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_STATIC_ATTENTION_VECTORS_H_
