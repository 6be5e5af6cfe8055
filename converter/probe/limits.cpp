// The loops are written in assembly, so that they measure exactly these instructions, whatever the compiler and its
// flags.
#include "probe/limits.h"

#include <algorithm>
#include <chrono>

namespace bantam::probe {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Runs `rounds` rounds of kInFlight independent instructions.
using PeakLoop = void (*)(uint64_t rounds);
constexpr uint64_t kInFlight = 12;

/// Reads `blocks` blocks of 1 KiB: sequentially, or in equal parts from each of kStreams places that are `stride` bytes
/// apart.
using LoadLoop = void (*)(const void* bytes, size_t blocks, size_t stride);
constexpr size_t kBlock = 1024;
constexpr size_t kStreams = 4;

/// The loops of an instruction set, and the multiplications per instruction (without VNNI or sdot, of three
/// instructions together).
struct Loops {
  PeakLoop int8 = nullptr;
  PeakLoop f32 = nullptr;
  LoadLoop load_one = nullptr;
  LoadLoop load_four = nullptr;
  uint64_t int8_width = 0;
  uint64_t f32_width = 0;
};

#if defined(__x86_64__)

#define BANTAM_CLOBBERS                                                                                             \
  "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
      "xmm12", "xmm13", "xmm14", "xmm15"

// Registers 0 to 11 are accumulators, initially 0. 12 and 13: all bytes 1. 14: ones in s16. 15: products.
#define BANTAM_PEAK_LOOP(name, setup, instructions)       \
  void name(uint64_t rounds) {                            \
    __asm__ volatile(                                     \
        ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n"              \
        "vpxor %%xmm\\r, %%xmm\\r, %%xmm\\r\n"            \
        ".endr\n" setup                                   \
        ".p2align 6\n"                                    \
        "1:\n"                                            \
        ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n" instructions \
        ".endr\n"                                         \
        "dec %0\n"                                        \
        "jnz 1b\n"                                        \
        "vzeroupper\n"                                    \
        : "+r"(rounds)                                    \
        :                                                 \
        : BANTAM_CLOBBERS);                               \
  }

#define BANTAM_INT8_YMM                  \
  "vpcmpeqd %%ymm13, %%ymm13, %%ymm13\n" \
  "vpabsb %%ymm13, %%ymm13\n"            \
  "vmovdqa %%ymm13, %%ymm12\n"           \
  "vpsrlw $8, %%ymm13, %%ymm14\n"
#define BANTAM_INT8_ZMM                          \
  "vpternlogd $255, %%zmm13, %%zmm13, %%zmm13\n" \
  "vpabsb %%zmm13, %%zmm13\n"                    \
  "vmovdqa64 %%zmm13, %%zmm12\n"
// Ones in f32.
#define BANTAM_F32_YMM                   \
  "vpcmpeqd %%ymm12, %%ymm12, %%ymm12\n" \
  "vpsrld $25, %%ymm12, %%ymm12\n"       \
  "vpslld $23, %%ymm12, %%ymm12\n"
#define BANTAM_F32_ZMM                           \
  "vpternlogd $255, %%zmm12, %%zmm12, %%zmm12\n" \
  "vpsrld $25, %%zmm12, %%zmm12\n"               \
  "vpslld $23, %%zmm12, %%zmm12\n"

BANTAM_PEAK_LOOP(int8_maddubs, BANTAM_INT8_YMM,
                 "vpmaddubsw %%ymm13, %%ymm12, %%ymm15\n"
                 "vpmaddwd %%ymm14, %%ymm15, %%ymm15\n"
                 "vpaddd %%ymm15, %%ymm\\r, %%ymm\\r\n")
BANTAM_PEAK_LOOP(int8_vex, BANTAM_INT8_YMM, "%{vex%} vpdpbusd %%ymm13, %%ymm12, %%ymm\\r\n")
BANTAM_PEAK_LOOP(int8_ymm, BANTAM_INT8_YMM, "%{evex%} vpdpbusd %%ymm13, %%ymm12, %%ymm\\r\n")
BANTAM_PEAK_LOOP(int8_zmm, BANTAM_INT8_ZMM, "vpdpbusd %%zmm13, %%zmm12, %%zmm\\r\n")
BANTAM_PEAK_LOOP(f32_ymm, BANTAM_F32_YMM, "vfmadd231ps %%ymm12, %%ymm12, %%ymm\\r\n")
BANTAM_PEAK_LOOP(f32_zmm, BANTAM_F32_ZMM, "vfmadd231ps %%zmm12, %%zmm12, %%zmm\\r\n")

/// Multiplies AMX's tiles 6 and 7, which are zero, into the accumulator tiles 0 to 5.
void int8_tiles(uint64_t rounds) {
  struct alignas(64) {
    uint8_t palette[16] = {1};
    uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } const config;
  __asm__ volatile(
      "ldtilecfg %1\n"
      ".p2align 6\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,0,1,2,3,4,5\n"
      "tdpbusd %%tmm7, %%tmm6, %%tmm\\r\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      "tilerelease\n"
      : "+r"(rounds)
      : "m"(config)
      : "cc", "memory");
}

// One pass over `bytes` that loads each cache line once and does not use it.
#define BANTAM_LOAD_ONE(name, load)                                               \
  void name(const void* bytes, size_t blocks, size_t /*stride*/) {                \
    __asm__ volatile(                                                           \
        ".p2align 6\n"                                                          \
        "1:\n"                                                                  \
        ".irp o,0,64,128,192,256,320,384,448,512,576,640,704,768,832,896,960\n" \
        load("\\o(%0)", "32+\\o(%0)")                                           \
        ".endr\n"                                                               \
        "add $1024, %0\n"                                                       \
        "dec %1\n"                                                              \
        "jnz 1b\n"                                                              \
        "vzeroupper\n"                                                          \
        : "+r"(bytes), "+r"(blocks)                                             \
        :                                                                       \
        : BANTAM_CLOBBERS); \
  }
#define BANTAM_LOAD_FOUR(name, load)                                       \
  void name(const void* bytes, size_t blocks, size_t stride) {             \
    __asm__ volatile(                                                    \
        ".p2align 6\n"                                                   \
        "1:\n"                                                           \
        ".irp o,0,64,128,192\n"                                          \
        load("\\o(%0)", "32+\\o(%0)")                                    \
        load("\\o(%0,%2)", "32+\\o(%0,%2)")                              \
        load("\\o(%0,%2,2)", "32+\\o(%0,%2,2)")                          \
        load("\\o(%0,%3)", "32+\\o(%0,%3)")                              \
        ".endr\n"                                                        \
        "add $256, %0\n"                                                 \
        "dec %1\n"                                                       \
        "jnz 1b\n"                                                       \
        "vzeroupper\n"                                                   \
        : "+r"(bytes), "+r"(blocks)                                      \
        : "r"(stride), "r"(3 * stride)                                   \
        : BANTAM_CLOBBERS); \
  }
// A cache line, given by the addresses of its halves.
#define BANTAM_LINE_YMM(low, high) "vmovdqa " low ", %%ymm0\nvmovdqa " high ", %%ymm1\n"
#define BANTAM_LINE_ZMM(low, high) "vmovdqa64 " low ", %%zmm0\n"

BANTAM_LOAD_ONE(load_one_ymm, BANTAM_LINE_YMM)
BANTAM_LOAD_ONE(load_one_zmm, BANTAM_LINE_ZMM)
BANTAM_LOAD_FOUR(load_four_ymm, BANTAM_LINE_YMM)
BANTAM_LOAD_FOUR(load_four_zmm, BANTAM_LINE_ZMM)

Loops loops_of(Isa isa) {
  switch (isa) {
    case Isa::kAvx2:
      return {int8_maddubs, f32_ymm, load_one_ymm, load_four_ymm, 32, 8};
    case Isa::kAvxVnni:
      return {int8_vex, f32_ymm, load_one_ymm, load_four_ymm, 32, 8};
    case Isa::kAvx512Vnni256:
      return {int8_ymm, f32_ymm, load_one_ymm, load_four_ymm, 32, 8};
    case Isa::kAvx512Vnni:
      return {int8_zmm, f32_zmm, load_one_zmm, load_four_zmm, 64, 16};
    case Isa::kAmx:
      return {int8_tiles, f32_zmm, load_one_zmm, load_four_zmm, 16384, 16};
    default:
      return {};
  }
}

#elif defined(__aarch64__)

#define BANTAM_CLOBBERS \
  "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15"

// Registers 0 to 11 are accumulators, initially 0, like the factors 12 and 13. 15: products.
#define BANTAM_PEAK_LOOP(name, extension, instructions)                \
  void name(uint64_t rounds) {                                         \
    __asm__ volatile(extension                                         \
                     ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13\n"        \
                     "movi v\\r\\().4s, #0\n"                          \
                     ".endr\n"                                         \
                     ".p2align 6\n"                                    \
                     "1:\n"                                            \
                     ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n" instructions \
                     ".endr\n"                                         \
                     "subs %0, %0, #1\n"                               \
                     "b.ne 1b\n"                                       \
                     : "+r"(rounds)                                    \
                     :                                                 \
                     : BANTAM_CLOBBERS);                               \
  }

BANTAM_PEAK_LOOP(int8_smlal, "",
                 "smull v15.8h, v12.8b, v13.8b\n"
                 "smlal v15.8h, v12.8b, v13.8b\n"
                 "sadalp v\\r\\().4s, v15.8h\n")
BANTAM_PEAK_LOOP(int8_sdot, ".arch armv8.2-a+dotprod\n", "sdot v\\r\\().4s, v12.16b, v13.16b\n")
BANTAM_PEAK_LOOP(int8_smmla, ".arch armv8.2-a+i8mm\n", "smmla v\\r\\().4s, v12.16b, v13.16b\n")
BANTAM_PEAK_LOOP(f32_fmla, "", "fmla v\\r\\().4s, v12.4s, v13.4s\n")

// One pass over `bytes` that loads each cache line once and does not use it.
void load_one(const void* bytes, size_t blocks, size_t /*stride*/) {
  __asm__ volatile(
      "1:\n"
      ".irp o,0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480\n"
      "ldp q0, q1, [%0, #\\o]\n"
      "ldp q2, q3, [%0, #\\o + 512]\n"
      ".endr\n"
      "add %0, %0, #1024\n"
      "subs %1, %1, #1\n"
      "b.ne 1b\n"
      : "+r"(bytes), "+r"(blocks)
      :
      : BANTAM_CLOBBERS);
}
void load_four(const void* bytes, size_t blocks, size_t stride) {
  const char* first = static_cast<const char*>(bytes);
  const char* second = first + stride;
  const char* third = second + stride;
  const char* fourth = third + stride;
  __asm__ volatile(
      "1:\n"
      ".irp o,0,32,64,96,128,160,192,224\n"
      "ldp q0, q1, [%0, #\\o]\n"
      "ldp q2, q3, [%1, #\\o]\n"
      "ldp q4, q5, [%2, #\\o]\n"
      "ldp q6, q7, [%3, #\\o]\n"
      ".endr\n"
      "add %0, %0, #256\n"
      "add %1, %1, #256\n"
      "add %2, %2, #256\n"
      "add %3, %3, #256\n"
      "subs %4, %4, #1\n"
      "b.ne 1b\n"
      : "+r"(first), "+r"(second), "+r"(third), "+r"(fourth), "+r"(blocks)
      :
      : BANTAM_CLOBBERS);
}

Loops loops_of(Isa isa) {
  switch (isa) {
    case Isa::kNeon:
      return {int8_smlal, f32_fmla, load_one, load_four, 16, 4};
    case Isa::kNeonDot:
      return {int8_sdot, f32_fmla, load_one, load_four, 16, 4};
    case Isa::kNeonI8mm:
      return {int8_smmla, f32_fmla, load_one, load_four, 32, 4};
    default:
      return {};
  }
}

#else

Loops loops_of(Isa /*isa*/) { return {}; }

#endif

// About 30 us: short enough that many loops run without an interruption.
constexpr uint64_t kRounds = 10000;
constexpr int kRepetitions = 300;

double measure_loop(PeakLoop loop, uint64_t width) {
  if (loop == nullptr) return 0;
  double best = 0;
  for (int i = 0; i < kRepetitions; ++i) {
    const Clock::time_point begin = Clock::now();
    loop(kRounds);
    best = std::max(best, static_cast<double>(kRounds * kInFlight * width) / seconds_since(begin));
  }
  return best;
}

}  // namespace

Peaks measure_peaks(Isa isa) {
  const Loops loops = loops_of(isa);
  return {measure_loop(loops.int8, loops.int8_width), measure_loop(loops.f32, loops.f32_width)};
}

Peaks larger(const Peaks& a, const Peaks& b) { return {std::max(a.int8, b.int8), std::max(a.f32, b.f32)}; }

double measure_int8_together(Isa isa, const Parallel* parallel, uint32_t workers) {
  Loops loops = loops_of(isa);
  if (loops.int8 == nullptr) return 0;
  // Tasks of a millisecond, so that waking threads takes a small part of the time.
  constexpr uint64_t kLong = 40 * kRounds;
  const auto task = [](void* loop, uint32_t, uint32_t) { static_cast<const Loops*>(loop)->int8(kLong); };
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const Clock::time_point begin = Clock::now();
    if (parallel != nullptr) {
      parallel->run(parallel->context, workers, task, &loops);
    } else {
      for (uint32_t worker = 0; worker < workers; ++worker) task(&loops, worker, worker);
    }
    best = std::max(best, static_cast<double>(workers * kLong * kInFlight * loops.int8_width) / seconds_since(begin));
  }
  return best;
}

double measure_load_bandwidth(Isa isa, const void* bytes, size_t size) {
  const Loops loops = loops_of(isa);
  const size_t blocks = size / kBlock;
  if (loops.load_one == nullptr || blocks == 0) return 0;
  // Number of passes in one measurement: about 100 us with data in the first-level cache.
  const size_t passes = std::max<size_t>(1, (size_t{8} << 20) / size);
  double best = 0;
  for (const LoadLoop loop : {loops.load_one, loops.load_four}) {
    for (int i = 0; i < 60; ++i) {
      const Clock::time_point begin = Clock::now();
      for (size_t pass = 0; pass < passes; ++pass) loop(bytes, blocks, size / kStreams);
      best = std::max(best, static_cast<double>(passes * size) / seconds_since(begin));
    }
  }
  return best;
}

}  // namespace bantam::probe
