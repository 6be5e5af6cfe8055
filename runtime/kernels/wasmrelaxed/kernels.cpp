// WebAssembly with relaxed SIMD, where fused multiply-add and int8 dot products are instructions.
#define BANTAM_KERNEL_NAMESPACE wasmrelaxed
#define BANTAM_KERNEL_ISA kWasmRelaxed

#include "kernels/wasmrelaxed/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
