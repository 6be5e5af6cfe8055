// static_attention on 16 lanes: blocks of queries whose sums stay in registers, softmax in integers a vector of keys at a time.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_ATTENTION_VECTORS_H_
#define BANTAM_KERNELS_GENERIC_STATIC_ATTENTION_VECTORS_H_

#include "kernels/generic/attention.h"
#include "kernels/generic/dot_block.h"
#include "kernels/generic/static_softmax.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// static_exp2 of static_softmax.h, lane by lane: each constant takes part in the product behind it.
BANTAM_INLINE I32 static_exp2(I32 u) {
  const ShiftCount fifteen = shift_count(15);
  const Factors f = as_factors(shift_right_logical<11>(u) & splat(int32_t{0x7fff}));
  I32 p = shift_right(multiply_add(splat(kStaticExp2[0]), f, splat(kStaticExp2[1] * 32768)), fifteen);
  p = shift_right(multiply_add(p, f, splat(kStaticExp2[2] * 32768)), fifteen);
  p = shift_right(multiply_add(p, f, splat(kStaticExp2[3] * 32768)), fifteen);
  return shift_right_each(p, shift_right_logical<26>(u));
}

/// Scratch: scores in i32 as AttentionBlock has them, over which the weights in u8 are written; then [query] queries in their true
/// signs, padded with zeros to whole quads.
template <uint32_t kRows>
struct StaticAttentionBlock : AttentionBlock<kRows, StaticAttention> {
  using Base = AttentionBlock<kRows, StaticAttention>;
  using Base::a;
  using Base::Base;
  using Base::first;
  using Base::page_begin;
  using Base::page_end;
  using Base::visible;

  I32 best[kRows];  // the largest scores so far, lane by lane; then of the whole query
  int32_t factor[kRows];
  uint32_t shift[kRows];  // of sums, before they meet the factor

  BANTAM_INLINE Sum* sums(uint32_t r, uint32_t page) const { return reinterpret_cast<Sum*>(this->score(r, page)); }
  BANTAM_INLINE uint32_t query_bytes() const { return pad4(a.head_width); }
  BANTAM_INLINE int8_t* queries() const { return reinterpret_cast<int8_t*>(this->scores + kRows * this->stride); }
  BANTAM_INLINE I32 where_seen(uint32_t r, uint32_t page, LaneMask first_sees, I32 on, int32_t off) const {
    return bits(select(this->seen(r, page, 0, first_sees), from_bits(on), from_bits(splat(off))));
  }

  BANTAM_INLINE void copy_queries() const {
    for (uint32_t r = 0; r < kRows; ++r) {
      const int8_t* q = a.q + (first + r) * a.q_stride;
      int8_t* to = queries() + r * query_bytes();
      uint32_t i = 0;
      for (; i + 16 <= a.head_width; i += 16) store_ints(to + i, stored(load_ints(q + i)));
      for (; i < query_bytes(); ++i) to[i] = i < a.head_width ? stored_byte(q[i]) : int8_t{0};
    }
  }

  template <uint32_t kPages>
  BANTAM_INLINE void multiply_keys(Pages<kPages>, uint32_t page, const int32_t (&starts)[kRows]) {
    RegisterBlock<kRows, kPages> block;
    block.start(starts);
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

  /// Weights of `kPages` pages, less 128, of one query.
  template <uint32_t kPages>
  BANTAM_INLINE I32 weigh_pages(uint32_t r, uint32_t page, I32 largest, I32 most, I32 multiplier, I32 total) {
    const LaneMask first_sees = this->seen(0, page, 0);
    I32 weights[4];
    int8_t* to[4];
    BANTAM_UNROLL
    for (uint32_t p = 0; p < 4; ++p) {
      const uint32_t from = p < kPages ? page + p : page + kPages - 1;
      to[p] = reinterpret_cast<int8_t*>(this->probability(r, from));
      if (p >= kPages) {
        weights[p] = weights[kPages - 1];
        continue;
      }
      const I32 below = largest - load(sums(r, from));
      const I32 e = static_exp2(min_unsigned(below, most) * multiplier);
      // 255 * e, rounded and divided by 2^15.
      weights[p] = shift_right(shift_left<8>(e) - e + splat(int32_t{(1 << 14) - (128 << 15)}), shift_count(15));
      if (kPages == 1 && !this->whole(page)) weights[p] = where_seen(r, page, first_sees, weights[p], -128);
      total = total + weights[p];
    }
    store_four(to, saturate_bytes(weights) ^ int8_t{-128});
    return total;
  }

  BANTAM_INLINE void weigh() {
    const I32 most = splat(static_cast<int32_t>(a.multiplier == 0 ? 0x7fffffffu : 0x7fffffffu / a.multiplier));
    const I32 multiplier = splat(static_cast<int32_t>(a.multiplier));
    const uint32_t pages = page_end - page_begin;
    int32_t largest[16];
    store(largest, largest_of(best));
    I32 total[kRows];
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) total[r] = splat(int32_t{0});
    // Scores are read before weights take their places.
    uint32_t page = page_begin;
    for (; page + 4 <= page_end && this->whole(page) && this->whole(page + 3); page += 4) {
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        total[r] = weigh_pages<4>(r, page, splat(largest[r]), most, multiplier, total[r]);
      }
    }
    for (; page < page_end; ++page) {
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        total[r] = weigh_pages<1>(r, page, splat(largest[r]), most, multiplier, total[r]);
      }
    }
    int32_t all[16];
    store(all, across_lanes(
                   total, [](const auto& x) __attribute__((always_inline)) { return sum(x); },
                   [](const auto& x) __attribute__((always_inline)) { return sum_eight(x); }));
    for (uint32_t r = 0; r < kRows; ++r) {
      const StaticMean mean(visible[r].empty() ? 0 : static_cast<uint32_t>(all[r]) + pages * (16 * 128));
      factor[r] = mean.factor;
      shift[r] = mean.total_bits - 8;
    }
  }

  /// Output columns [16 * panel, 16 * (panel + kPanels)).
  template <uint32_t kPanels>
  BANTAM_INLINE void multiply_values(uint32_t panel) {
    RegisterBlock<kRows, kPanels> block;
    block.clear();
    for (uint32_t page = page_begin; page < page_end; ++page) {
      const int8_t* values = reinterpret_cast<const int8_t*>(this->values(page)) + panel * 256;
      block.add_page(this->probability(0, page), this->stride * sizeof(int32_t), values, 256);
    }
    const RoundShift after(22);
    const auto value = [&](uint32_t r, uint32_t p) __attribute__((always_inline)) {
      const RoundShift before(shift[r]);
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
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kRows * kPanels; i += 4) {
      I32 v[4];
      int8_t* to[4];
      BANTAM_UNROLL
      for (uint32_t j = 0; j < 4; ++j) {
        const uint32_t vector = i + j < kRows * kPanels ? i + j : kRows * kPanels - 1;
        v[j] = value(vector / kPanels, vector % kPanels);
        to[j] = y + vector / kPanels * a.y_stride + vector % kPanels * 16;
      }
      store_four(to, max(saturate_bytes(v), int8_t{-127}) ^ static_cast<int8_t>(kOffsetXor));
    }
  }

  BANTAM_INLINE bool run() {
    copy_queries();
    int32_t starts[kRows];
    measure_queries(starts, queries(), query_bytes(), query_bytes());
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) best[r] = splat(INT32_MIN);
    this->template for_pages<block_panels(kRows)>([&](auto pages, uint32_t page) __attribute__((always_inline)) {
      this->multiply_keys(pages, page, starts);
    });
    weigh();
    constexpr uint32_t kMost = block_panels(kRows) < 4 ? block_panels(kRows) : 4;
    const uint32_t panels = pad16(a.head_width) / 16;
    uint32_t panel = 0;
    for (; panel + kMost <= panels; panel += kMost) multiply_values<kMost>(panel);
    for (; panel < panels; ++panel) multiply_values<1>(panel);
    return true;
  }
};

inline bool static_attention(const StaticAttention& a) {
  if constexpr (!linked::kStatic) return false;
  return attention_blocks<StaticAttentionBlock, many_queries(kMaxRows), some_queries(kMaxRows)>(a);
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_ATTENTION_VECTORS_H_
