// Checks that the compiler evaluates floating-point formulas as written: the bits of every result depend on it.
#ifndef BANTAM_SESSION_AS_WRITTEN_H_
#define BANTAM_SESSION_AS_WRITTEN_H_

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(_M_FP_FAST)
#error "bantam: -ffast-math and its parts change the bits of answers; compile with -fno-fast-math"
#endif

namespace bantam {

/// Returns false if the compiler reorders sums or multiplies by reciprocals. gcc has macros that tell (above), so that
/// its code needs no test. Internal: the result is about the file that includes it.
static inline bool keeps_formulas() {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
  return true;
#else
  volatile float source = 1.5f;
  const float small = source;
  source = 5.0f;
  const float five = source;
  return (small + 1e8f) - 1e8f == 0.0f && five / 3 == 0x1.aaaaaap+0f;  // 1.5; five times the third is 2^-23 more
#endif
}

/// Returns false if the compiler fuses a product and a sum, whose product is then not rounded. Internal, as above.
static inline bool rounds_products() {
  volatile float source = 1.0f + 0x1p-12f;
  const float x = source;
  return x * x - (1.0f + 0x1p-11f) == 0.0f;  // 2^-24 when fused: the product's last bit is not rounded away
}

/// Returns false if the compiler changes formulas, or fuses a product and a sum into one operation, as gcc does without
/// -ffp-contract=off. No macro tells the latter. Internal: the result is about the file that includes it.
static inline bool computes_as_written() {
#if defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA) || defined(__FMA__)
  return keeps_formulas() && rounds_products();
#else
  return keeps_formulas();
#endif
}

}  // namespace bantam

#endif  // BANTAM_SESSION_AS_WRITTEN_H_
