// WebAssembly with SIMD128, which every browser supports.
#define BANTAM_KERNEL_NAMESPACE wasm
#define BANTAM_KERNEL_ISA kWasm

#include "kernels/wasm/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
