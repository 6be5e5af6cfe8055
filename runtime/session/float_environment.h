// Sets round to nearest and no flush to zero for the lifetime of an object, then restores the previous modes.
#ifndef BANTAM_SESSION_FLOAT_ENVIRONMENT_H_
#define BANTAM_SESSION_FLOAT_ENVIRONMENT_H_

#include <stdint.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace bantam {

class FloatEnvironment {
 public:
#if defined(__SSE__)
  // MXCSR: all exceptions masked, round to nearest, FTZ and DAZ off.
  FloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~FloatEnvironment() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
  // FPCR: rounding mode, FZ and DN in bits 22-25; all clear is IEEE.
  FloatEnvironment() : saved_(read()) { write(saved_ & ~uint64_t{0x03C00000}); }
  ~FloatEnvironment() { write(saved_); }
#elif defined(__arm__) && defined(__ARM_FP)
  // FPSCR: the same bits as FPCR.
  FloatEnvironment() : saved_(read()) { write(saved_ & ~uint32_t{0x03C00000}); }
  ~FloatEnvironment() { write(saved_); }
#else
  FloatEnvironment() {}
  ~FloatEnvironment() {}
#endif
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

#if defined(__SSE__)
 private:
  uint32_t saved_;
#elif defined(__aarch64__)
 private:
  static uint64_t read() {
    uint64_t value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void write(uint64_t value) { __asm__ volatile("msr fpcr, %0" ::"r"(value)); }
  uint64_t saved_;
#elif defined(__arm__) && defined(__ARM_FP)
 private:
  static uint32_t read() {
    uint32_t value;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(value));
    return value;
  }
  static void write(uint32_t value) { __asm__ volatile("vmsr fpscr, %0" ::"r"(value)); }
  uint32_t saved_;
#endif
};

}  // namespace bantam

#endif  // BANTAM_SESSION_FLOAT_ENVIRONMENT_H_
