// int8 attention on one lane, four queries at a time: their scores are one block of dot products, whose sums are stored
// where the scores will be. Then the softmax of each query, then one block of dot products for each panel of values and
// page.
#ifndef BANTAM_KERNELS_GENERIC_ATTENTION_SUMS_H_
#define BANTAM_KERNELS_GENERIC_ATTENTION_SUMS_H_

#include "kernels/generic/dot_sums.h"
#include "kernels/generic/softmax_q8.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

struct AttentionSums {
  static constexpr uint32_t kMost = 4;

  const Attention& a;
  const uint32_t first, queries;    // queries of the call
  const AttentionBlock<1> frame;    // positions of the scores and probabilities of all queries
  uint32_t page_begin, page_count;  // pages that some query attends to
  float factor[kMost];

  BANTAM_INLINE AttentionSums(const Attention& args, uint32_t query, uint32_t count)
      : a(args), first(query), queries(count), frame(args, query) {
    uint32_t end = frame.page_end;
    page_begin = frame.page_begin;
    for (uint32_t r = 1; linked::kMasks && r < queries; ++r) {
      const AttentionBlock<1> one(a, first + r);
      if (one.visible[0].empty()) continue;
      const bool none_yet = page_begin == end;
      page_begin = none_yet || one.page_begin < page_begin ? one.page_begin : page_begin;
      end = none_yet || one.page_end > end ? one.page_end : end;
    }
    page_count = end - page_begin;
  }

  /// Computes the sums of pages [page, page + pages) in `sums`.
  BANTAM_INLINE void multiply_keys(uint32_t page, uint32_t pages, Sum* sums, size_t sums_stride) const {
    if (a.neighbours(page, pages)) return multiply_neighbours(page, pages, sums, sums_stride);
    for (uint32_t i = 0; i < pages; ++i) multiply_neighbours(page + i, 1, sums + i * 16, sums_stride);
  }

  /// Computes the sums of contiguous pages.
  BANTAM_INLINE void multiply_neighbours(uint32_t page, uint32_t pages, Sum* sums, size_t sums_stride) const {
    const uint32_t quads = a.head_width / 4;
    const uint32_t rest = a.head_width % 4;
    const int8_t* q = static_cast<const int8_t*>(a.q) + first * a.q_stride;
    DotBlock block = {};
    block.x_stride = a.q_stride;
    block.rows = queries;
    block.w = reinterpret_cast<const int8_t*>(frame.keys(page));
    block.panel_stride = a.key_page_stride;
    block.panels = pages;
    block.quads = quads;
    block.sums = sums;
    block.sums_stride = sums_stride;
    dot_block(q, block);
    if (rest == 0) return;
    // A head may begin anywhere in its row, and end at the end of the rows' memory.
    int8_t last[kMost * 4] = {};
    for (uint32_t r = 0; r < queries; ++r) memcpy(last + r * 4, q + r * a.q_stride + quads * 4, rest);
    block.x_stride = 4;
    block.w += size_t{quads} * 64;
    block.quads = 1;
    block.add = true;
    dot_block(last, block);
  }

  BANTAM_INLINE const float* k_scale(uint32_t page) const {
    const size_t scale_at = size_t{pad4(a.head_width)} * 16;
    return reinterpret_cast<const float*>(frame.keys(page) + scale_at);
  }

  /// Computes all scores if there are biases, which sums must not overwrite.
  BANTAM_INLINE void add_products_to_biases() const {
    for (uint32_t page = page_begin; page < page_begin + page_count; ++page) {
      Sum sums[kMost * 16];
      multiply_keys(page, 1, sums, 16);
      for (uint32_t r = 0; r < queries; ++r) {
        const float times = a.q_scale[(first + r) * a.q_scale_stride] * a.scale;
        float* score = frame.score(0, page) + r * frame.stride;
        for (uint32_t lane = 0; lane < 16; ++lane) {
          score[lane] = capped(a, fma(to_f32(sums[r * 16 + lane]) * k_scale(page)[lane], times, score[lane]));
        }
      }
    }
  }

  /// Computes the probabilities of all queries from their sums or scores. Returns false if a value is not finite.
  BANTAM_INLINE bool weigh() {
    for (uint32_t r = 0; r < queries; ++r) {
      if (!weigh_sums(a, first + r, r, page_begin, page_begin + page_count, factor + r)) return false;
    }
    return true;
  }
#if defined(BANTAM_KERNEL_VECTORS)
  /// The same with vectors. Also returns false if they would flush numbers, or if the keys do not begin at a vector
  /// boundary. The sums are then overwritten.
  BANTAM_INLINE bool weigh_in_vectors() {
    for (uint32_t r = 0; r < queries; ++r) {
      if (!BANTAM_KERNEL_VECTORS::weigh(a, first + r, r, page_begin, page_begin + page_count, factor + r)) return false;
    }
    return true;
  }
#endif

  /// Computes output columns [16 * panel, 16 * panel + 16).
  BANTAM_INLINE void multiply_values(uint32_t panel, Finite& finite) const {
    Sum sums[kMost * 16];
    DotBlock block = {};
    block.x_stride = frame.stride * sizeof(float);
    block.rows = queries;
    block.panels = 1;
    block.quads = 4;
    block.sums = sums;
    block.sums_stride = 16;
    if (page_count == 0) memset(sums, 0, sizeof sums);
    for (uint32_t page = page_begin; page < page_begin + page_count; ++page) {
      block.w = reinterpret_cast<const int8_t*>(frame.values(page)) + panel * 256;
      block.add = page != page_begin;
      dot_block(frame.probability(0, page), block);
    }
    const uint32_t left = a.head_width - panel * 16;
    for (uint32_t r = 0; r < queries; ++r) {
      float* y = a.y + (first + r) * a.y_stride + panel * 16;
      for (uint32_t i = 0; i < (left < 16 ? left : 16); ++i) {
        const float v = to_f32(sums[r * 16 + i]) * factor[r];
        finite.note(v);
        y[i] = v;
      }
    }
  }

  BANTAM_INLINE bool run() {
    if (linked::kBias && a.biased) {
      add_products_to_biases();
      if (!weigh()) return false;
    } else {
      Sum* sums = reinterpret_cast<Sum*>(frame.score(0, page_begin));
      multiply_keys(page_begin, page_count, sums, frame.stride);
#if defined(BANTAM_KERNEL_VECTORS)
      if (weigh_in_vectors()) return mean();
      multiply_keys(page_begin, page_count, sums, frame.stride);
#endif
      if (!weigh()) return false;
    }
    return mean();
  }
  /// Computes the output from all probabilities. Returns false if a value is not finite.
  BANTAM_INLINE bool mean() const {
    Finite finite;
    for (uint32_t panel = 0; panel * 16 < a.head_width; ++panel) multiply_values(panel, finite);
    return finite.all();
  }
};

inline bool attention_q8(const Attention& a) {
  bool finite = true;
  for (uint32_t query = 0; query < a.queries; query += AttentionSums::kMost) {
    const uint32_t left = a.queries - query;
    finite &= AttentionSums(a, query, left < AttentionSums::kMost ? left : AttentionSums::kMost).run();
  }
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_ATTENTION_SUMS_H_
