// recurrent_row: the gates of LSTM, GRU and SSRU cells.
#ifndef BANTAM_KERNELS_GENERIC_RECURRENT_H_
#define BANTAM_KERNELS_GENERIC_RECURRENT_H_

#include "kernels/generic/math.h"
#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// sigmoid(x) * tanh(y) with one division: absolute error <= 3e-7. tanh() is also accurate to the last digits near
/// zero, which gates do not need.
BANTAM_INLINE F32 gated(F32 x, F32 y) {
  const F32 one = splat(1.0f), zero = splat(0.0f);
  const F32 p = exp_below_88(zero - magnitude(x)), q = exp_below_88(splat(-2.0f) * magnitude(y));
  const F32 size = select(less(x, zero), p, one) * (one - q);
  return select(less(y, zero), zero - size, size) / ((one + p) * (one + q));
}

BANTAM_INLINE F32 lstm_vector(const RecurrentRow& a, uint32_t i, size_t block) {
  const auto gate = [&](size_t k) __attribute__((always_inline)) {
    return load(a.x + k * block + i) + load(a.s + k * block + i);
  };
  const F32 c = fma(sigmoid(gate(1)), load(a.c + i), gated(gate(0), gate(2)));
  store(a.c + i, c);
  return gated(gate(3), c);
}

BANTAM_INLINE F32 gru_vector(const RecurrentRow& a, uint32_t i, size_t block) {
  const F32 r = sigmoid(load(a.x + i) + load(a.s + i));
  const F32 z = sigmoid(load(a.x + block + i) + load(a.s + block + i));
  const F32 n = tanh(fma(r, load(a.s + 2 * block + i), load(a.x + 2 * block + i)));
  return fma(z, load(a.h + i) - n, n);
}

BANTAM_INLINE F32 ssru_vector(const RecurrentRow& a, uint32_t i, size_t block) {
  const F32 n = load(a.x + block + i);
  return fma(sigmoid(load(a.x + i)), load(a.h + i) - n, n);
}

inline bool recurrent_row(const RecurrentRow& a) {
  const size_t block = pad16(a.width);
  Finite finite;
  for_vectors(
      a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        const F32 h = a.c != nullptr   ? lstm_vector(a, i, block)
                      : a.s != nullptr ? gru_vector(a, i, block)
                                       : ssru_vector(a, i, block);
        finite.note(lanes.keep_row(h));
        // h is finite even if c is infinite.
        if (a.c != nullptr) finite.note(lanes.keep_row(load(a.c + i)));
        store(a.h + i, h);
      });
  return finite.all();
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_RECURRENT_H_
