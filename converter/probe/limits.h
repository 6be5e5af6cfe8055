// Measures the machine's peak rates in this process, as references for `bantam bench` and tests/bench.
#ifndef BANTAM_CONVERTER_PROBE_LIMITS_H_
#define BANTAM_CONVERTER_PROBE_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "bantam/session.h"

namespace bantam::probe {

/// Multiply-accumulates per second of one core, by instructions of `isa` with operands in registers: int8 dot products
/// (vpdpbusd; vpmaddubsw, vpmaddwd and vpaddd without VNNI; smmla, sdot, or smull, smlal and sadalp) and f32 fused
/// multiply-adds. 0: not measured, as for the reference and 32-bit ARM.
struct Peaks {
  double int8 = 0;
  double f32 = 0;
};

/// Returns the best of many short loops, so that other work on the machine has little effect; takes about 20 ms. `isa`
/// must be available.
Peaks measure_peaks(Isa isa);

/// Returns the larger of each peak, for peaks measured before and after the work that is compared with them.
Peaks larger(const Peaks& a, const Peaks& b);

/// Measures the int8 multiply-accumulates per second of all `workers` of `parallel` together (null: of this thread).
/// Takes about 10 ms.
double measure_int8_together(Isa isa, const Parallel* parallel, uint32_t workers);

/// Measures the bytes per second that one core loads from `size` bytes that it reads repeatedly: the rate of the
/// smallest cache that holds them. Loads are as wide as the vectors of `isa`; the best of several reading orders
/// counts. Returns 0 if it cannot be measured. `bytes` must be aligned to 64, and `size` a multiple of 8 KiB.
double measure_load_bandwidth(Isa isa, const void* bytes, size_t size);

}  // namespace bantam::probe

#endif  // BANTAM_CONVERTER_PROBE_LIMITS_H_
