// The tables that a build may contain, one for each instruction set; dispatch.cpp chooses.
#ifndef BANTAM_KERNELS_TABLES_H_
#define BANTAM_KERNELS_TABLES_H_

#include "kernels/kernels.h"

namespace bantam::kernels {
namespace reference {
extern const Table kTable;
}
namespace avx2 {
extern const Table kTable;
namespace shared {
#include "kernels/declarations.inc"
}
}  // namespace avx2
namespace avxvnni {
extern const Table kTable;
}
namespace avx512vl {
extern const Table kTable;
}
namespace avx512 {
extern const Table kTable;
namespace shared {
#include "kernels/declarations.inc"  // NOLINT(readability-duplicate-include): in another namespace
}
}  // namespace avx512
namespace avx512vbmi {
extern const Table kTable;
}
namespace amx {
extern const Table kTable;
}
namespace armv7neon {
extern const Table kTable;
}
namespace armv7fma {
extern const Table kTable;
}
namespace neon {
extern const Table kTable;
namespace shared {
#include "kernels/declarations.inc"  // NOLINT(readability-duplicate-include): in another namespace
}
}  // namespace neon
namespace neondot {
extern const Table kTable;
}
namespace neoni8mm {
extern const Table kTable;
}
namespace wasm {
extern const Table kTable;
}
namespace wasmrelaxed {
extern const Table kTable;
}
// Microcontrollers: portable C, Armv7E-M's SMLAD, Armv8.1-M's Helium.
namespace scalar {
extern const Table kTable;
}
namespace dsp {
extern const Table kTable;
}
namespace mve {
extern const Table kTable;
}
}  // namespace bantam::kernels

#endif  // BANTAM_KERNELS_TABLES_H_
