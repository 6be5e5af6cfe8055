// Measures the machine's peak rates in this process: the yardsticks of `bantam bench` and of tests/bench.
#ifndef BANTAM_CONVERTER_PROBE_LIMITS_H_
#define BANTAM_CONVERTER_PROBE_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "bantam/session.h"

namespace bantam::probe {

/// Multiply-accumulates a second of one core, in instructions of `isa` with operands in registers: int8 dot products
/// (vpdpbusd; vpmaddubsw, vpmaddwd and vpaddd where there is no VNNI; smmla, sdot, or smull, smlal and sadalp) and f32
/// fused multiply-adds. 0: there is no measurement, as for the reference and 32-bit ARM.
struct Peaks {
  double int8 = 0;
  double f32 = 0;
};

/// Returns the best of many short loops, which other work on the machine disturbs little; takes about 20 ms. `isa` must
/// be available.
Peaks measure_peaks(Isa isa);

/// Returns the larger of each peak: for peaks measured before and after the work that is compared with them.
Peaks larger(const Peaks& a, const Peaks& b);

/// Measures the int8 multiply-accumulates per second of the `workers` of `parallel` (null: this thread) together. Takes
/// some 10 ms.
double measure_int8_together(Isa isa, const Parallel* parallel, uint32_t workers);

/// Measures the bytes per second that one core loads from `size` bytes which it reads repeatedly: the rate of the
/// smallest cache that holds them. Loads are as wide as the vectors of `isa`; the best of several reading orders
/// counts. 0: no measurement. `bytes` are aligned to 64, `size` is a multiple of 8 KiB.
double measure_load_bandwidth(Isa isa, const void* bytes, size_t size);

}  // namespace bantam::probe

#endif  // BANTAM_CONVERTER_PROBE_LIMITS_H_
