// Finds which kernel tables this build has and this machine can run: by cpuid, or by what the system reports for an
// ARM core.
#include <string.h>

#include "kernels/tables.h"
#include "linked.h"

#if defined(BANTAM_FIRMWARE)

// An image has only the kernels of its core.
namespace bantam {
namespace kernels {
namespace {

constexpr Isa kOnly = Isa::BANTAM_FIRMWARE_ISA;

template <Isa isa>
constexpr const Table* only_table() {
  if constexpr (isa == Isa::kMve) {
    return &mve::kTable;
  } else if constexpr (isa == Isa::kDsp) {
    return &dsp::kTable;
  } else if constexpr (isa == Isa::kScalar) {
    return &scalar::kTable;
  } else {
    static_assert(isa == Isa::kReference, "BANTAM_FIRMWARE_ISA is kScalar, kDsp, kMve or kReference");
    return &reference::kTable;
  }
}

}  // namespace

const Table* table(Isa isa) { return isa == Isa::kAuto || isa == kOnly ? only_table<kOnly>() : nullptr; }

}  // namespace kernels

const char* isa_name(Isa isa) {
  if (isa != kernels::kOnly) return "auto";
  return kernels::kOnly == Isa::kMve ? "mve" : kernels::kOnly == Isa::kDsp ? "dsp" : "scalar";
}

bool isa_available(Isa isa) { return kernels::table(isa) != nullptr; }

bool isa_parse(Text name, Isa* out) {
  const char* word = isa_name(kernels::kOnly);
  if (strlen(word) != name.size || memcmp(word, name.data, name.size) != 0) return false;
  *out = kernels::kOnly;
  return true;
}

}  // namespace bantam

#else

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif (defined(__aarch64__) || defined(__arm__)) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace bantam {
namespace kernels {
namespace {

[[maybe_unused]] constexpr bool has_bit(unsigned long value, uint32_t bit) { return ((value >> bit) & 1u) != 0; }

#if defined(__x86_64__)

/// Linux saves the 8 KB of tile registers only for processes that have requested it
/// (Documentation/arch/x86/xstate.rst); all their threads may use tiles from then on. The request fails if a signal
/// stack is too small.
bool may_use_tiles() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

/// The instruction sets that cpuid reports and whose registers the operating system saves (xgetbv).
struct Machine {
  bool avx2 = false;     // with FMA and F16C
  bool avxvnni = false;  // VEX encoded, 256 bit
  bool avx512 = false;   // F, BW, DQ, VL, VNNI
  bool vbmi = false;     // besides these
  bool amx = false;      // TILE, INT8, with VBMI; whether Linux lets this process use them is checked separately

  Machine() {
    uint32_t a = 0;
    uint32_t b = 0;
    uint32_t c = 0;
    uint32_t d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return;
    const bool saves_state = has_bit(c, 27);
    const bool fma_and_f16c = has_bit(c, 12) && has_bit(c, 28) && has_bit(c, 29);
    if (!saves_state || !fma_and_f16c) return;
    uint32_t state = 0;
    uint32_t state_high = 0;
    __asm__ volatile("xgetbv" : "=a"(state), "=d"(state_high) : "c"(0));
    const bool ymm = (state & 0x06u) == 0x06u;
    const bool zmm = (state & 0xe6u) == 0xe6u;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return;
    const uint32_t subleaves = a;
    const bool tiles = (state & 0x60000u) == 0x60000u && has_bit(d, 24) && has_bit(d, 25);
    avx2 = ymm && has_bit(b, 5);
    avx512 = avx2 && zmm && has_bit(b, 16) && has_bit(b, 17) && has_bit(b, 30) && has_bit(b, 31) && has_bit(c, 11);
    vbmi = avx512 && has_bit(c, 1);
    amx = vbmi && tiles;
    if (subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) avxvnni = avx2 && has_bit(a, 4);
  }

  bool runs(Isa isa) const {
    if (isa == Isa::kAvx2) return avx2;
    if (isa == Isa::kAvxVnni) return avxvnni;
    if (isa == Isa::kAvx512Vnni256 || isa == Isa::kAvx512Vnni) return avx512;
    if (isa == Isa::kAmx) return amx && may_use_tiles();
    return isa == Isa::kReference;
  }
};

const Table* built_table(const Machine& machine, Isa isa) {
  switch (isa) {
    case Isa::kAmx:
      return &amx::kTable;
    case Isa::kReference:
      return &reference::kTable;
    case Isa::kAvx2:
      return &avx2::kTable;
    case Isa::kAvxVnni:
      return &avxvnni::kTable;
    case Isa::kAvx512Vnni256:
      return &avx512vl::kTable;
    case Isa::kAvx512Vnni:
      return machine.vbmi ? &avx512vbmi::kTable : &avx512::kTable;
    default:
      break;
  }
  return nullptr;
}

#elif defined(__aarch64__) && (defined(__linux__) || defined(__APPLE__))

struct Machine {
#if defined(__linux__)
  // The instruction sets that the kernel reports: bits of HWCAP and HWCAP2, which older headers do not define.
  bool dot = has_bit(getauxval(AT_HWCAP), 20);    // sdot
  bool i8mm = has_bit(getauxval(AT_HWCAP2), 13);  // smmla
#else
  // Apple's "Determining instruction set characteristics".
  bool dot = has("hw.optional.arm.FEAT_DotProd");
  bool i8mm = has("hw.optional.arm.FEAT_I8MM");

  static bool has(const char* feature) {
    int value = 0;
    size_t size = sizeof(value);
    return sysctlbyname(feature, &value, &size, nullptr, 0) == 0 && value != 0;
  }
#endif

  bool runs(Isa isa) const {
    if (isa == Isa::kNeonDot) return dot;
    if (isa == Isa::kNeonI8mm) return dot && i8mm;
    return true;
  }
};

const Table* built_table(const Machine&, Isa isa) {
  switch (isa) {
    case Isa::kReference:
      return &reference::kTable;
    case Isa::kNeon:
      return &neon::kTable;
    case Isa::kNeonDot:
      return &neondot::kTable;
    case Isa::kNeonI8mm:
      return &neoni8mm::kTable;
    default:
      break;
  }
  return nullptr;
}

#elif defined(__arm__) && defined(__linux__)

struct Machine {
  bool neon = has_bit(getauxval(AT_HWCAP), 12);

  bool runs(Isa isa) const { return isa != Isa::kArmv7Neon || neon; }
};

const Table* built_table(const Machine&, Isa isa) {
  if (isa == Isa::kReference) return &reference::kTable;
  if (isa != Isa::kArmv7Neon) return nullptr;
  const bool vfpv4 = has_bit(getauxval(AT_HWCAP), 16);
  return vfpv4 ? &armv7fma::kTable : &armv7neon::kTable;
}

#elif defined(__wasm_simd128__)

struct Machine {
  bool runs(Isa) const { return true; }
};

// A module has the kernels of a single instruction set: an engine that lacks one of its instructions rejects the whole
// module.
const Table* built_table(const Machine&, Isa isa) {
#if defined(__wasm_relaxed_simd__)
  if (isa == Isa::kWasmRelaxed) return &wasmrelaxed::kTable;
#else
  if (isa == Isa::kWasm) return &wasm::kTable;
#endif
  if constexpr (linked::kReference) {
    if (isa == Isa::kReference) return &reference::kTable;
  }
  return nullptr;
}

#else

struct Machine {
  bool runs(Isa) const { return true; }
};

const Table* built_table(const Machine&, Isa isa) { return isa == Isa::kReference ? &reference::kTable : nullptr; }

#endif

/// From worst to best: kAuto takes the last available one.
constexpr struct {
  Isa isa;
  const char* name;
} kIsas[] = {{Isa::kReference, "reference"},
             {Isa::kAvx2, "avx2"},
             {Isa::kAvxVnni, "avxvnni"},
             {Isa::kAvx512Vnni256, "avx512vnni256"},
             {Isa::kAvx512Vnni, "avx512vnni"},
             {Isa::kAmx, "amx"},
             {Isa::kArmv7Neon, "armv7neon"},
             {Isa::kNeon, "neon"},
             {Isa::kNeonDot, "neondot"},
             {Isa::kNeonI8mm, "neoni8mm"},
             {Isa::kWasm, "wasm"},
             {Isa::kWasmRelaxed, "wasmrelaxed"},
             {Isa::kScalar, "scalar"},
             {Isa::kDsp, "dsp"},
             {Isa::kMve, "mve"}};

}  // namespace

const Table* table(Isa isa) {
  if (isa == Isa::kReference)
    return linked::kReference ? &reference::kTable : nullptr;  // without cpuid, which a virtual machine traps
  const Machine machine;
  if (isa != Isa::kAuto) return machine.runs(isa) ? built_table(machine, isa) : nullptr;
  const Table* best = nullptr;
  for (const auto& entry : kIsas) {
    const Table* built = machine.runs(entry.isa) ? built_table(machine, entry.isa) : nullptr;
    if (built != nullptr) best = built;
  }
  return best;
}

}  // namespace kernels

const char* isa_name(Isa isa) {
  for (const auto& entry : kernels::kIsas) {
    if (entry.isa == isa) return entry.name;
  }
  return "auto";
}

bool isa_available(Isa isa) { return kernels::table(isa) != nullptr; }

bool isa_parse(Text name, Isa* out) {
  const auto is = [name](const char* word) {
    return strlen(word) == name.size && memcmp(word, name.data, name.size) == 0;
  };
  if (is("auto")) {
    *out = Isa::kAuto;
    return true;
  }
  for (const auto& entry : kernels::kIsas) {
    if (is(entry.name)) {
      *out = entry.isa;
      return true;
    }
  }
  return false;
}

}  // namespace bantam

#endif  // BANTAM_FIRMWARE
