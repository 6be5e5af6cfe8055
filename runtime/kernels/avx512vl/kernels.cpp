// 256-bit VNNI, EVEX encoded.
#define BANTAM_KERNEL_NAMESPACE avx512vl
#define BANTAM_KERNEL_ISA kAvx512Vnni256
#define BANTAM_KERNEL_BASE avx2

#include "kernels/vnni256/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
