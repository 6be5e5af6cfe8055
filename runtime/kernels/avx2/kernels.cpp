// AVX2 with FMA and F16C.
#define BANTAM_KERNEL_NAMESPACE avx2
#define BANTAM_KERNEL_ISA kAvx2
#define BANTAM_KERNEL_IS_BASE

#include "kernels/avx2/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
