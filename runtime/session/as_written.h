// Checks that the compiler evaluates floating-point formulas as written: the bits of every result depend on it.
#ifndef BANTAM_SESSION_AS_WRITTEN_H_
#define BANTAM_SESSION_AS_WRITTEN_H_

#if defined(__FAST_MATH__)
#error "bantam: -ffast-math changes the bits of answers; compile without it"
#endif

namespace bantam {

/// Returns false if the compiler fuses a product and a sum into one operation, as gcc does without -ffp-contract=off.
/// No macro tells this. Internal: the result is about the file that includes it.
static inline bool computes_as_written() {
#if defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA) || defined(__FMA__)
  volatile float source = 1.0f + 0x1p-12f;
  const float x = source;
  return x * x - (1.0f + 0x1p-11f) == 0.0f;  // 2^-24 when fused: the product's last bit is not rounded away
#else
  return true;
#endif
}

}  // namespace bantam

#endif  // BANTAM_SESSION_AS_WRITTEN_H_
