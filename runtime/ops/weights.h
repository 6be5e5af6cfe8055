// How linear layers read each layout of integer weights: a struct for each row of format/weights.inc, with
//
//   kChecked        not all data is allowed, such as positions of weights: check() reads it before anything runs
//   bytes(n, k)     least size of Tensor.data; n: outputs, a multiple of 16; k: inputs
//   scratch(k)      bytes of scratch that the kernel needs
//   rows(table, k)  best number of rows for a call, so that their sums stay in cache; hosts only
//   check(t, data)  verifies kChecked layouts, whose data has at least bytes() bytes. O(bytes)
//   bind(t, args)   fills the kernel's arguments; w, w_scale, w_sum, k and n of `args` must be set already
#ifndef BANTAM_OPS_WEIGHTS_H_
#define BANTAM_OPS_WEIGHTS_H_

#include "format/verdict.h"
#include "format/view.h"
#include "kernels/kernels.h"

namespace bantam::ops {

/// The base of layouts whose bytes are the weights in order.
struct DenseWeights {
  static constexpr bool kChecked = false;
  static uint64_t scratch(uint32_t) { return 0; }
  static uint32_t rows(const kernels::Table& table, uint32_t) { return table.linear_rows; }
  static Verdict check(const fb::Tensor&, const uint8_t*) { return {}; }
  static void bind(const fb::Tensor&, kernels::LinearQ8*) {}
};

struct Tiles : DenseWeights {
  static uint64_t bytes(uint64_t n, uint64_t k) { return n * round_up(k, 4); }
};

struct WeightRows : DenseWeights {
  static uint64_t bytes(uint64_t n, uint64_t k) { return n * round_up(k, 16); }
  static void bind(const fb::Tensor&, kernels::LinearQ8* args) { args->k16 = true; }
};

/// Rows for which a panel of weights is unpacked once; their sums stay in the second-level cache.
inline uint32_t unpacked_rows(const kernels::Table& table) { return table.linear_rows < 64 ? 64 : table.linear_rows; }

struct Int4Tiles : DenseWeights {
  static uint32_t rows(const kernels::Table& table, uint32_t) { return unpacked_rows(table); }
  static uint64_t bytes(uint64_t n, uint64_t k) { return n * round_up(k, 8) / 2; }
  static uint64_t scratch(uint32_t k) { return kernels::unpacked_scratch(k); }
  static void bind(const fb::Tensor& t, kernels::LinearQ8* args) {
    args->factors = reinterpret_cast<const uint8_t*>(args->w_scale + args->n);
    args->group = t.group();
  }
};

struct TernaryTiles : DenseWeights {
  static constexpr bool kChecked = true;
  static uint32_t rows(const kernels::Table& table, uint32_t) { return unpacked_rows(table); }
  static uint64_t bytes(uint64_t n, uint64_t k) { return n * round_up(k, 16) / 4; }
  static uint64_t scratch(uint32_t k) { return kernels::unpacked_scratch(kernels::pad16(k)); }
  static Verdict check(const fb::Tensor& t, const uint8_t* data);
  static void bind(const fb::Tensor&, kernels::LinearQ8* args) { args->ternary = true; }
};

struct SparseBlocks {
  static constexpr bool kChecked = true;
  static uint64_t bytes(uint64_t n, uint64_t) { return 2 * n; }
  static uint64_t scratch(uint32_t k) { return kernels::sparse_scratch(k); }
  static uint32_t rows(const kernels::Table& table, uint32_t k) { return kernels::sparse_pass(k, table.sparse_rows); }
  static Verdict check(const fb::Tensor& t, const uint8_t* data);
  /// Layer: LinearQ8 or StaticLinear.
  template <class Layer>
  static void bind(const fb::Tensor& t, Layer* args) {
    const size_t steps = sparse_steps(t, args->n);
    const uint8_t* behind = reinterpret_cast<const uint8_t*>(args->w) + steps * 16;
    args->sparse.index = reinterpret_cast<const uint16_t*>(behind);
    args->sparse.ends = reinterpret_cast<const uint32_t*>(behind + steps * 8);
    args->sparse.order = behind + steps * 8 + args->n;
  }
};

struct Bitmasks {
  static constexpr bool kChecked = true;
  static uint64_t bytes(uint64_t n, uint64_t k) { return n * round_up(k, 4) / 8 + kernels::kBitmaskSlack; }
  static uint64_t scratch(uint32_t k) { return kernels::unpacked_scratch(k); }
  static uint32_t rows(const kernels::Table& table, uint32_t) { return unpacked_rows(table); }
  static Verdict check(const fb::Tensor& t, const uint8_t* data);
  static void bind(const fb::Tensor& t, kernels::LinearQ8* args) {
    args->masks = reinterpret_cast<const uint64_t*>(args->w);
    args->w += bitmask_bytes(t);
  }
};

/// Returns f(Format{}) for the tensor's layout of integer weights; a default result for other layouts and for those
/// that this build leaves out.
template <class F>
auto with_weights(const fb::Tensor& t, const F& f) -> decltype(f(Tiles{})) {
  switch (t.layout()) {
#define BANTAM_WEIGHTS(layout, number, Format)                                \
  case fb::Layout::layout:                                                    \
    if constexpr (linked::weights(linked::links::number)) return f(Format{}); \
    break;
#include "format/weights.inc"
#undef BANTAM_WEIGHTS
    default:
      break;
  }
  return decltype(f(Tiles{}))();
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_WEIGHTS_H_
