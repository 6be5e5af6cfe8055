// static_attention on one lane: int8 dot products over pages as in attention_sums.h, which must be included before, and
// softmax in integers.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_STATIC_ATTENTION_H_
#define BANTAM_KERNELS_GENERIC_STATIC_STATIC_ATTENTION_H_

#include "kernels/generic/attention.h"
#include "kernels/generic/static/static_softmax.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Queries that are processed together. Scratch: [query] scores in i32, page after page, which the u8 weights
/// overwrite; then [query] signed queries, padded with zeros to whole groups of 4.
struct StaticQueries {
  const StaticAttention& a;
  uint32_t first, count;          // of the call
  uint32_t page_begin, page_end;  // pages that some query attends to
  size_t stride;                  // distance of the scores of adjacent queries
  uint32_t width;                 // of a query in scratch, in bytes

  BANTAM_INLINE StaticQueries(const StaticAttention& args, uint32_t query, uint32_t queries)
      : a(args), first(query), count(queries) {
    const Visible most = visible_keys(a, a.query_begin + first + count - 1);
    page_begin = visible_keys(a, a.query_begin + first).begin / 16;
    page_end = (most.end + 15) / 16;
    stride = size_t{page_end - page_begin} * 16;
    width = pad4(a.head_width);
  }
  BANTAM_INLINE Sum* scores(uint32_t r) const { return static_cast<Sum*>(a.scratch) + r * stride; }
  BANTAM_INLINE uint8_t* weights(uint32_t r) const { return reinterpret_cast<uint8_t*>(scores(r)); }
  BANTAM_INLINE int8_t* queries() const { return reinterpret_cast<int8_t*>(scores(count)); }
  /// Returns true if queries are multiplied in place: they are stored as signed numbers, in whole quads.
  BANTAM_INLINE bool in_place() const { return kOffsetXor == 0 && width == a.head_width; }
  BANTAM_INLINE const int8_t* keys(uint32_t page) const {
    return reinterpret_cast<const int8_t*>(a.key_pages + page * a.key_page_stride);
  }
  BANTAM_INLINE const int8_t* values(uint32_t page, uint32_t panel) const {
    return reinterpret_cast<const int8_t*>(a.value_pages + page * a.value_page_stride) + panel * 256;
  }

  inline void copy() const {
    for (uint32_t r = 0; r < count; ++r) {
      const int8_t* q = a.q + (first + r) * a.q_stride;
      int8_t* to = queries() + r * width;
      for (uint32_t i = 0; i < width; ++i) to[i] = i < a.head_width ? stored_byte(q[i]) : int8_t{0};
    }
  }

  /// Converts scores to weights; returns the sum of the weights.
  BANTAM_NOINLINE uint32_t weigh(uint32_t r) const {
    const Visible seen = visible_keys(a, a.query_begin + first + r);
    const Sum* score = scores(r);
    const uint32_t begin = seen.empty() ? 0 : seen.begin - page_begin * 16;
    const uint32_t end = seen.empty() ? 0 : seen.end - page_begin * 16;
    int32_t best = INT32_MIN;
    for (uint32_t i = begin; i < end; ++i) best = score[i] > best ? score[i] : best;
    const uint32_t most = a.multiplier == 0 ? 0x7fffffffu : 0x7fffffffu / a.multiplier;
    uint8_t* weight = weights(r);
    memset(weight, 0, begin);
    uint32_t total = 0;
    // A score is read before its weight overwrites it.
    for (uint32_t i = begin; i < end; ++i) {
      const auto below = static_cast<uint32_t>(best) - static_cast<uint32_t>(score[i]);
      const uint32_t u = (below < most ? below : most) * a.multiplier;
      const uint32_t w = static_cast<uint32_t>(static_exp2(u) * 255 + (1 << 14)) >> 15;
      total += w;
      weight[i] = static_cast<uint8_t>(w);
    }
    for (uint32_t i = end; i < stride; ++i) weight[i] = 0;
    return total;
  }

  /// Stores output columns [column, column + columns) of query r from the sums of its weighted values.
  BANTAM_NOINLINE void store_means(uint32_t r, uint32_t column, uint32_t columns, uint32_t total,
                                   const Sum* sums) const {
    const StaticMean mean(total);
    const RoundShift before(mean.total_bits - 8);
    const RoundShift after(22);
    const Ints factor = splat_ints(mean.factor);
    const auto value = [&](uint32_t i) __attribute__((always_inline)) {
      return after.down(multiply_add(sat16(before(load_ints(sums + i))), factor, after.half));
    };
    int8_t* y = a.y + (first + r) * a.y_stride + column;
    const uint32_t here = a.head_width - column < columns ? a.head_width - column : columns;
    uint32_t i = 0;
    if (a.head_width % kIntStep == 0) {
      for (; i < here; i += kIntStep)
        store_sat8(
            y + i, [&](uint32_t j) __attribute__((always_inline)) { return value(i + j); });
    }
    for (; i < here; i += kIntLanes) store_ints_first(y + i, stored(sat8(value(i))), here - i);
  }
};

inline void static_attend(const StaticQueries& q) {
  constexpr uint32_t kMost = 4;
  const bool in_place = q.in_place();
  if (!in_place) q.copy();
  dot_block(in_place ? q.a.q + q.first * q.a.q_stride : q.queries(),
            {in_place ? q.a.q_stride : q.width, q.count, q.keys(q.page_begin), q.a.key_page_stride,
             q.page_end - q.page_begin, q.width / 4, q.scores(0), q.stride, false});
  uint32_t totals[kMost];
  for (uint32_t r = 0; r < q.count; ++r) totals[r] = q.weigh(r);
  for (uint32_t panel = 0; panel * 16 < q.a.head_width; ++panel) {
    Sum sums[kMost * 16];
    if (q.page_begin >= q.page_end) memset(sums, 0, sizeof sums);
    for (uint32_t page = q.page_begin; page < q.page_end; ++page) {
      const uint8_t* weights = q.weights(0) + (page - q.page_begin) * 16;
      const bool add = page != q.page_begin;
      dot_block(weights, {q.stride * sizeof(int32_t), q.count, q.values(page, panel), 256, 1, 4, sums, 16, add});
    }
    for (uint32_t r = 0; r < q.count; ++r) q.store_means(r, panel * 16, 16, totals[r], sums + r * 16);
  }
}

inline bool static_attention(const StaticAttention& a) {
  if constexpr (!linked::kStatic) return false;
  constexpr uint32_t kMost = 4;
  for (uint32_t query = 0; query < a.queries; query += kMost) {
    const StaticQueries queries(a, query, a.queries - query < kMost ? a.queries - query : kMost);
    static_attend(queries);
  }
  return true;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_STATIC_ATTENTION_H_
