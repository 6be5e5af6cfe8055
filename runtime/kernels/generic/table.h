// The last header of a translation unit: all kernels of one instruction set and their table.
// BANTAM_KERNEL_ISA names the enumerator, e.g. kAvx2. BANTAM_KERNEL_BASE, where it is defined, names the instruction set that
// has the same vectors and another dot product: kernels without one are its. BANTAM_KERNEL_IS_BASE: others may say so of this.
#ifndef BANTAM_KERNELS_GENERIC_TABLE_H_
#define BANTAM_KERNELS_GENERIC_TABLE_H_

#include "kernels/generic/align.h"
#include "kernels/generic/attention_f32.h"
#include "kernels/generic/embed.h"
#include "kernels/generic/epilogue.h"
#include "kernels/generic/features.h"
#include "kernels/generic/recurrent.h"
#include "kernels/generic/softmax.h"
#include "kernels/generic/span_scores.h"
#include "kernels/generic/split_heads.h"
#include "kernels/tables.h"
#if defined(BANTAM_KERNEL_ONE_LANE)
#include "kernels/generic/attention_sums.h"
#include "kernels/generic/linear_sums.h"
#include "kernels/generic/static/static_attention.h"
#else
#include "kernels/generic/attention_q8.h"
#include "kernels/generic/linear_q8.h"
#include "kernels/generic/split_eight.h"
#include "kernels/generic/static/static_attention_vectors.h"
#include "kernels/generic/static/static_norm.h"
#endif
#include "kernels/generic/static/static_linear.h"
#include "kernels/generic/static/static_split.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

inline bool attention(const Attention& a) {
  if constexpr (linked::kDynamic) {
    if (a.q8) return attention_q8(a);
  }
#if defined(BANTAM_KERNEL_BASE)
  return BANTAM_KERNEL_BASE::shared::attention(a);
#else
  if constexpr (linked::kFloatAttention) return attention_f32(a);
  return false;
#endif
}

/// Whether an operator that is linked calls a kernel; the others are null, and nothing of them is in an image.
struct Links {
  static constexpr bool linear_q8 = linked::op(linked::kOpLinear) && linked::kDynamic;
  static constexpr bool sums = linked::op(linked::kOpKeySums) || linked::op(linked::kOpLinearAttention);
  static constexpr bool linear_f32 =
      (linked::op(linked::kOpLinear) || sums || linked::op(linked::kOpChunkAttention)) && linked::kFloat;
  static constexpr bool epilogue_rows =
      ((BANTAM_LINK_OPS)&linked::ops_of(linked::dynamic)) != 0 || ((BANTAM_LINK_TASKS) >> 1) != 0;  // scores' exp, too
  static constexpr bool embed_rows = linked::op(linked::kOpEmbed);
  static constexpr bool split_heads = linked::op(linked::kOpSplitHeads);
  static constexpr bool attention = linked::op(linked::kOpAttention);
  static constexpr bool pool_rows = linked::op(linked::kOpPool);
  static constexpr bool softmax_rows = linked::op(linked::kOpAdaptiveSoftmax) ||
                                       linked::op(linked::kOpLinearAttention) || linked::op(linked::kOpChunkAttention);
  static constexpr bool static_linear = linked::op(linked::kOpStaticLinear);
  static constexpr bool static_norm = linked::op(linked::kOpStaticLinear) || linked::op(linked::kOpStaticEmbed);
  static constexpr bool static_embed = linked::op(linked::kOpStaticEmbed);
  static constexpr bool static_split = linked::op(linked::kOpStaticSplitHeads);
  static constexpr bool static_attention = linked::op(linked::kOpStaticAttention);
  static constexpr bool static_pool = linked::op(linked::kOpStaticPool) || linked::op(linked::kOpStaticRow);
  static constexpr bool recurrent_row = linked::op(linked::kOpRecurrent) || linked::op(linked::kOpRecurrentCell);
  static constexpr bool span_scores = linked::op(linked::kOpSpans);
  static constexpr bool align_row = linked::op(linked::kOpAlign);
  static constexpr bool feature_rows = sums;
  static constexpr bool outer_sums = linked::op(linked::kOpKeySums);
};

/// Rows whose sums stay in the first-level cache until they are stored.
constexpr uint8_t kLinearRows = 16;
#if defined(BANTAM_KERNEL_ONE_LANE)
constexpr uint8_t kSparsePass = kLinearRows;
#endif

#if defined(BANTAM_KERNEL_IS_BASE)
namespace shared {
#define BANTAM_KERNEL(name, Args) \
  bool name(const Args& a) { return BANTAM_KERNEL_NAMESPACE::name(a); }
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL
}  // namespace shared
#endif

// Included once for each instruction set, in its own namespace.
// NOLINTNEXTLINE(misc-definitions-in-headers)
const Table kTable = {
    Isa::BANTAM_KERNEL_ISA,
    kOffsetXor,
    kLinearRows,
    kSparsePass,
#if defined(BANTAM_KERNEL_BASE)
#define BANTAM_KERNEL(name, Args) BANTAM_KERNEL_BASE::shared::name,
#define BANTAM_KERNEL_DOT(name, Args) name,
#elif defined(BANTAM_KERNEL_IS_BASE)
#define BANTAM_KERNEL(name, Args) shared::name,
#else
#define BANTAM_KERNEL(name, Args) Links::name ? name : nullptr,
#endif
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_TABLE_H_
