// attention: code that int8 and f32 attention share (visible keys, scratch, softmax), and the entry point.
#ifndef BANTAM_KERNELS_GENERIC_ATTENTION_H_
#define BANTAM_KERNELS_GENERIC_ATTENTION_H_

#include "kernels/generic/blocks.h"
#include "kernels/generic/softmax.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Keys [begin, end) that a query attends to; empty if begin >= end.
struct Visible {
  uint32_t begin, end;
  BANTAM_INLINE bool empty() const { return begin >= end; }
  /// Returns which of a vector's keys `key`, `key` + 1, ... lie inside the interval.
  BANTAM_INLINE LaneMask lanes(uint32_t key) const {
    return lanes_between(static_cast<int32_t>(begin - key), static_cast<int32_t>(end - key));
  }
  BANTAM_INLINE bool covers(uint32_t page) const { return begin <= page * 16 && page * 16 + 16 <= end; }
};

template <class Args>
BANTAM_INLINE Visible visible_keys(const Args& a, uint32_t query) {
  const Range keys = visible_range(a, query);
  return keys.begin < keys.end ? Visible{keys.begin, keys.end} : Visible{a.kv_begin, a.kv_begin};
}

/// cap * tanh(score / cap). Not inlined: few models use it, and every block would contain it once per vector of scores.
BANTAM_NOINLINE inline F32 cap_score(F32 score, float cap) { return splat(cap) * tanh(score / splat(cap)); }

/// Returns a biased score, capped if the call has a soft cap.
BANTAM_INLINE F32 capped(const Attention& a, F32 score) {
  if (!linked::kSoftCap || a.soft_cap == 0.0f) return score;
  return cap_score(score, a.soft_cap);
}

/// Lane i of the result is lane (i + by) % 16. Instruction sets with an instruction for it have their own function.
template <class Vector>
BANTAM_INLINE Vector rotate(Vector v, uint32_t by) {
  float twice[32];
  store(twice, v);
  store(twice + 16, v);
  return load(twice + by);
}

/// A number of pages as a type.
template <uint32_t kCount>
struct Pages {};

/// One block of queries: scores in scratch, [query][visible page of the call][16]. Args: Attention or StaticAttention.
template <uint32_t kRows, class Args = Attention>
struct AttentionBlock {
  const Args& a;
  uint32_t first;                 // query offset in the call
  uint32_t page_begin, page_end;  // pages that some query of the block attends to
  uint32_t first_page;            // first page that scratch has room for
  size_t stride;                  // scratch elements from query to query
  float* scores;
  Visible visible[kRows];
  bool same_keys;  // all queries of the block attend to the same keys

  BANTAM_INLINE AttentionBlock(const Args& args, uint32_t query) : a(args), first(query) {
    uint32_t begin = UINT32_MAX;
    uint32_t end = 0;
    same_keys = true;
    const bool masked = linked::kMasks && a.mask != Mask::kNone;
    for (uint32_t r = 0; r < kRows; ++r) {
      visible[r] = masked || r == 0 ? visible_keys(a, a.query_begin + first + r) : visible[0];
      same_keys &= visible[r].begin == visible[0].begin && visible[r].end == visible[0].end;
      if (visible[r].empty()) continue;
      begin = visible[r].begin < begin ? visible[r].begin : begin;
      end = visible[r].end > end ? visible[r].end : end;
    }
    const Range pages = visible_pages(a);
    first_page = pages.begin;
    page_begin = begin < end ? begin / 16 : first_page;
    page_end = begin < end ? (end + 15) / 16 : first_page;
    stride = size_t{pages.end - pages.begin} * 16;
    scores = static_cast<float*>(a.scratch);
    if (a.biased) scores += first * stride;
  }

  /// Makes the first query the `r`-th of a larger block, whose queries attend to keys in pages [begin, end).
  BANTAM_INLINE void move_to(uint32_t r, uint32_t begin, uint32_t end) {
    if (!a.biased) scores += r * stride;
    page_begin = begin;
    page_end = end;
  }
  BANTAM_INLINE float* score(uint32_t r, uint32_t page) const {
    return scores + r * stride + size_t{page - first_page} * 16;
  }
  /// Probabilities overwrite the scores: page after page, each score is read before its bytes are overwritten.
  BANTAM_INLINE uint8_t* probability(uint32_t r, uint32_t page) const {
    return reinterpret_cast<uint8_t*>(scores + r * stride) + size_t{page - first_page} * 16;
  }
  BANTAM_INLINE const uint8_t* keys(uint32_t page) const { return a.key_pages + a.place(page) * a.key_page_stride; }
  BANTAM_INLINE const uint8_t* values(uint32_t page) const {
    return a.value_pages + a.place(page) * a.value_page_stride;
  }
  /// Calls f(Pages<n>, page) for the visible pages, with n = kMany where that many are contiguous.
  template <uint32_t kMany, class F>
  BANTAM_INLINE void for_pages(const F& f) const {
    for (uint32_t page = page_begin; page < page_end;) {
      if (kMany > 1 && page + kMany <= page_end && a.neighbours(page, kMany)) {
        f(Pages<kMany>(), page);
        page += kMany;
      } else {
        f(Pages<1>(), page);
        ++page;
      }
    }
  }
  /// Returns which keys of a vector of page `page`, from `lane` on, query r attends to.
  BANTAM_INLINE LaneMask seen(uint32_t r, uint32_t page, uint32_t lane) const {
    return visible[r].lanes(page * 16 + lane);
  }
  /// The same, if the block's first query attends to `first_sees`: in most blocks all queries attend to the same keys.
  BANTAM_INLINE LaneMask seen(uint32_t r, uint32_t page, uint32_t lane, LaneMask first_sees) const {
    return r == 0 || same_keys ? first_sees : seen(r, page, lane);
  }
  /// Returns true if every query attends to all keys of the page.
  BANTAM_INLINE bool whole(uint32_t page) const { return same_keys && visible[0].covers(page); }
  /// Computes the largest scores of kCount queries from r on, in all lanes; 0 for a query without visible keys.
  template <uint32_t kCount>
  BANTAM_INLINE void largest_scores(uint32_t r, F32 (&best)[kCount]) const {
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) best[i] = splat(kMinusInfinity);
    for (uint32_t page = page_begin; page < page_end; ++page) {
      BANTAM_UNROLL
      for (uint32_t i = 0; i < kCount; ++i) {
        for_sixteen([&](uint32_t lane)
                        __attribute__((always_inline)) { best[i] = max(load(score(r + i, page) + lane), best[i]); });
      }
    }
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) best[i] = splat(visible[r + i].empty() ? 0.0f : largest(best[i]));
  }
  /// The element of a query's sum for key `key`: keys are numbered from kv_begin, so that the result does not depend on
  /// the sequence's position. With 16 lanes, sums_from_begin rotates the lanes instead.
  BANTAM_INLINE uint32_t element(uint32_t key) const { return key - a.kv_begin; }
  /// Returns the sums over lanes, as lanes of the result.
  template <class SomeSums, uint32_t kCount>
  BANTAM_INLINE F32 sums_from_begin(SomeSums (&v)[kCount]) const {
    if constexpr (kVectors == 1) {
      if (a.kv_begin % 16 != 0) {
        BANTAM_UNROLL
        for (uint32_t i = 0; i < kCount; ++i) v[i] = rotate(v[i], a.kv_begin % 16);
      }
    }
    return sums_of(v);
  }
};

template <template <uint32_t> class Kernel, uint32_t kRows, class Args>
BANTAM_NOINLINE bool attention_block(const Args& a, uint32_t query) {
  return Kernel<kRows>(a, query).run();
}

/// Queries per block if a linear layer takes `rows` rows. Each block size costs a dozen kilobytes of code, so there are
/// at most three: 8 if there are enough registers, this one, and one.
constexpr uint32_t some_queries(uint32_t rows) { return rows < 4 ? rows : 4; }
constexpr uint32_t many_queries(uint32_t rows) { return rows == 8 ? 8 : some_queries(rows); }

/// Kernel<queries>(args, query).run() processes one block.
template <template <uint32_t> class Kernel, uint32_t kMany, uint32_t kSome, class Args>
BANTAM_INLINE bool attention_blocks(const Args& a) {
  bool finite = true;
  uint32_t query = 0;
  for (; query + kMany <= a.queries; query += kMany) finite &= attention_block<Kernel, kMany>(a, query);
  // If two or more queries are left, a block that recomputes some of the preceding queries takes less time than single
  // ones. Not possible if scores have overwritten their biases.
  const uint32_t left = a.queries - query;
  const uint32_t again = left > kSome ? kMany : kSome;
  if (left >= 2 && again <= a.queries && !a.biased) {
    const uint32_t last = a.queries - again;
    return finite &
           (again == kMany ? attention_block<Kernel, kMany>(a, last) : attention_block<Kernel, kSome>(a, last));
  }
  for (; query + kSome <= a.queries; query += kSome) finite &= attention_block<Kernel, kSome>(a, query);
  for (; query < a.queries; ++query) finite &= attention_block<Kernel, 1>(a, query);
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_ATTENTION_H_
