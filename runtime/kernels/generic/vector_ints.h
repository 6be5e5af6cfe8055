// Sixteen int32 for the static kernels. An instruction set's ints.h includes this at its end, after it has defined,
// besides its vector.h:
//   load_words, store_words: int16 in memory; stores the low 16 bits of lanes, which must fit
//   min, min_unsigned, -, & of lanes; - wraps
//   Factors: sixteen int16: load_factors(p), splat_factor(x); as_factors(x) of lanes 0..65535, using their low 16 bits
//   multiply_add(x, w, z): x * w + z, which wraps, for Factors w and lanes x that fit into int16
//   ShiftCount: shift_count(n); shift_right(x, n), arithmetic, n less than 32
//   shift_right_logical<n>: the same, unsigned
//   shift_right_each(x, n): shifts lanes of at least 0 by lanes of 0..31; shift_left_each
//   FourBytes: sixteen int8 of each of four vectors: saturate_bytes(x); store_four(to, bytes), to separate addresses or
//     contiguous; max(bytes, y) and bytes ^ y by byte. times_255(x): (255 * x + 2^14) >> 15 of lanes 0..2^15, as
//     unsigned bytes; add_bytes(x, bytes): adds unsigned bytes to lanes, in any order
//   ByteTable: load_byte_table(p) of 256 bytes; lookup(table, bytes): the bytes at [x + 128]
#ifndef BANTAM_KERNELS_GENERIC_VECTOR_INTS_H_
#define BANTAM_KERNELS_GENERIC_VECTOR_INTS_H_

#define BANTAM_KERNEL_OWN_INTS
#define BANTAM_KERNEL_VECTOR_INTS

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

using Ints = I32x16;
constexpr uint32_t kIntLanes = 16;

BANTAM_TINY Ints load_ints(const int8_t* p) { return load_i8(p); }
BANTAM_TINY Ints load_ints(const int16_t* p) { return load_words(p); }
BANTAM_TINY Ints load_ints(const int32_t* p) { return load(p); }
BANTAM_TINY void store_ints(int8_t* p, Ints v) { store_bytes(p, v); }
BANTAM_TINY void store_ints(int16_t* p, Ints v) { store_words(p, v); }
BANTAM_TINY void store_ints(int32_t* p, Ints v) { store(p, v); }
/// One after the other; FourBytes look up many at a time.
BANTAM_INLINE Ints lookup_ints(const int8_t* table, Ints v) {
  int32_t lanes[16];
  store(lanes, v);
  for (int32_t& lane : lanes) lane = table[lane + 128];  // NOLINT(bugprone-signed-char-misuse): numbers
  return load(lanes);
}
BANTAM_TINY Ints splat_ints(int32_t a) { return splat(a); }
BANTAM_TINY Ints plus(Ints a, Ints b) { return a + b; }
BANTAM_TINY Ints multiply_add(Ints a, Ints b, int32_t c) { return a * b + splat(c); }
BANTAM_TINY Ints multiply_add(Ints a, Factors b, int32_t c) { return multiply_add(a, b, splat(c)); }
BANTAM_TINY Ints sat16(Ints v) { return min(max(v, splat(int32_t{-32768})), splat(int32_t{32767})); }
BANTAM_TINY Ints byte_range(Ints v) { return min(max(v, splat(int32_t{-128})), splat(int32_t{127})); }
BANTAM_TINY Ints sat8(Ints v) { return min(max(v, splat(int32_t{-127})), splat(int32_t{127})); }
BANTAM_TINY Ints flip(Ints v, int32_t bits) { return v ^ splat(bits); }

struct RoundShift {
  int32_t half;
  ShiftCount count;
  BANTAM_TINY explicit RoundShift(uint32_t by)
      : half(static_cast<int32_t>((uint32_t{1} << by) >> 1)), count(shift_count(by)) {}
  BANTAM_TINY Ints operator()(Ints v) const { return down(v + splat(half)); }
  BANTAM_TINY Ints down(Ints v) const { return shift_right(v, count); }
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_VECTOR_INTS_H_
