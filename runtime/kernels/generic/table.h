// The last header of a translation unit: all kernels of one instruction set and their table.
// BANTAM_KERNEL_ISA is the enumerator, e.g. kAvx2. BANTAM_KERNEL_BASE, if defined, is the instruction set with the same
// vectors and another dot product: kernels without a dot product are taken from it. BANTAM_KERNEL_IS_BASE: others may
// name this one as their base.
#ifndef BANTAM_KERNELS_GENERIC_TABLE_H_
#define BANTAM_KERNELS_GENERIC_TABLE_H_

#include "kernels/generic/embed.h"
#include "kernels/generic/epilogue.h"
#include "kernels/generic/softmax.h"
#include "kernels/generic/split_heads.h"
#include "kernels/tables.h"
#if defined(BANTAM_FIRMWARE) || defined(BANTAM_KERNEL_ONE_LANE)  // tables of microcontrollers have one lane
#include "kernels/generic/attention_sums.h"
#include "kernels/generic/linear_sums.h"
#else
#include "kernels/generic/attention_q8.h"
#include "kernels/generic/linear_q8.h"
#include "kernels/generic/split_eight.h"
#endif
#if BANTAM_IF_LINKED(FloatAttention)
#include "kernels/generic/attention_f32.h"
#endif
#if BANTAM_IF_LINKED(kernel_align_row)
#include "kernels/generic/align.h"
#endif
#if BANTAM_IF_LINKED(kernel_feature_rows)
#include "kernels/generic/features.h"
#endif
#if BANTAM_IF_LINKED(kernel_recurrent_row)
#include "kernels/generic/recurrent.h"
#endif
#if BANTAM_IF_LINKED(kernel_scan_row)
#include "kernels/generic/scan.h"
#endif
#if BANTAM_IF_LINKED(kernel_span_scores)
#include "kernels/generic/span_scores.h"
#endif
#if BANTAM_IF_LINKED(Static)
#if defined(BANTAM_FIRMWARE) || defined(BANTAM_KERNEL_ONE_LANE)
#include "kernels/generic/static/static_attention.h"
#else
#include "kernels/generic/static/static_attention_vectors.h"
#include "kernels/generic/static/static_norm.h"
#endif
#include "kernels/generic/static/static_linear.h"
#include "kernels/generic/static/static_split.h"
#endif

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

inline bool attention(const Attention& a) {
  if constexpr (linked::kDynamic) {
    if (a.q8) return attention_q8(a);
  }
#if defined(BANTAM_KERNEL_BASE)
  return BANTAM_KERNEL_BASE::shared::attention(a);
#else
#if BANTAM_IF_LINKED(FloatAttention)
  if constexpr (linked::kFloatAttention) return attention_f32(a);
#endif
  return false;
#endif
}

// Kernels whose headers are excluded above.
[[maybe_unused]] constexpr decltype(nullptr) kLeftOut = nullptr;
#if !BANTAM_IF_LINKED(kernel_align_row)
constexpr auto align_row = kLeftOut;
#endif
#if !BANTAM_IF_LINKED(kernel_feature_rows)
constexpr auto feature_rows = kLeftOut, outer_sums = kLeftOut;
#endif
#if !BANTAM_IF_LINKED(kernel_recurrent_row)
constexpr auto recurrent_row = kLeftOut;
#endif
#if !BANTAM_IF_LINKED(kernel_scan_row)
constexpr auto scan_row = kLeftOut;
#endif
#if !BANTAM_IF_LINKED(kernel_span_scores)
constexpr auto span_scores = kLeftOut;
#endif
#if !BANTAM_IF_LINKED(Static)
constexpr auto static_linear = kLeftOut, static_norm = kLeftOut, static_embed = kLeftOut, static_split = kLeftOut,
               static_attention = kLeftOut, static_pool = kLeftOut;
#endif

/// The kernels that linked code calls; the others are null and not in an image.
constexpr uint64_t called_kernels() {
  using linked::Kernels;
  uint64_t called = 0;
  for (uint32_t row = 0; row < linked::kOps; ++row) called |= linked::op(row) ? Kernels::of(row) : 0;
  // Epilogues, and the exp or the sigmoid of a task's scores.
  if (linked::any_op(linked::dynamic) || linked::kTasks >> 1 != 0) called |= Kernels::epilogue_rows;
  if (linked::kTerms) called |= Kernels::pool_rows;
  if (!linked::kDynamic) called &= ~Kernels::linear_q8;
  if (!linked::kFloat) called &= ~Kernels::linear_f32;
  return called;
}
constexpr bool is_called(uint64_t kernel) { return (called_kernels() & kernel) != 0; }

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
#define BANTAM_KERNEL(name, Args) is_called(linked::Kernels::name) ? name : nullptr,
#endif
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_TABLE_H_
