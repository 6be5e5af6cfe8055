// The int8 dot product of the reference: 16 outputs by 4 consecutive k.
#ifndef BANTAM_KERNELS_REFERENCE_DOT_H_
#define BANTAM_KERNELS_REFERENCE_DOT_H_

#include "kernels/reference/vector.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// XORed into stored q8 activations; 0x80 where the dot product takes u8, and then accumulators start at -128 * sum.
constexpr uint8_t kOffsetXor = 0;

/// One tile of weights: 16 outputs by 4 k.
struct Weights {
  int8_t v[64];
};
/// Four activations (q8 as stored), for all 16 outputs.
struct SignedQuad {
  int8_t v[4];
};
/// Four u8 probabilities.
struct UnsignedQuad {
  uint8_t v[4];
};

/// What the accumulators of row x, `count` long, start with; not 0 where an instruction set's treatment of signs asks.
BANTAM_INLINE int32_t row_start(const int8_t*, uint32_t) { return 0; }

inline Weights load_weights(const int8_t* p) {
  Weights w;
  memcpy(w.v, p, sizeof w.v);
  return w;
}
/// From any four bytes, unaligned.
inline SignedQuad signed_quad(const void* p) {
  SignedQuad q;
  memcpy(q.v, p, sizeof q.v);
  return q;
}
inline UnsignedQuad unsigned_quad(const void* p) {
  UnsignedQuad q;
  memcpy(q.v, p, sizeof q.v);
  return q;
}

/// Sixteen int32 sums.
struct Accumulator {
  I32x16 sums;

  Accumulator() = default;
  explicit Accumulator(const I32x16& start) : sums(start) {}
  /// sums[o] += the sum over j of q[j] * w[o][j], exact; a garbage activation is legal where its weights are 0.
  void add(const SignedQuad& q, const Weights& w) {
    for (int o = 0; o < 16; ++o) {
      for (int j = 0; j < 4; ++j) sums.v[o] += q.v[j] * w.v[4 * o + j];
    }
  }
  /// The same for probabilities; a garbage weight is legal where its probabilities are 0.
  void add(const UnsignedQuad& q, const Weights& w) {
    for (int o = 0; o < 16; ++o) {
      for (int j = 0; j < 4; ++j) sums.v[o] += q.v[j] * w.v[4 * o + j];
    }
  }
  I32x16 get() const { return sums; }
};

/// Activations are used as they are stored: see avx2/dot.h.
constexpr uint32_t kPreparedQuads = 0;
template <uint32_t kRows>
struct PreparedRows;

/// Register blocks: rows by vectors of 16 outputs. [rows] -> vectors, for rows 1..kMaxRows.
constexpr uint32_t kMaxRows = 1;
constexpr uint32_t block_panels(uint32_t) { return 1; }
constexpr uint32_t kMaxRowsF32 = 1;
constexpr uint32_t block_panels_f32(uint32_t) { return 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_REFERENCE_DOT_H_
