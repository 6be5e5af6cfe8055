// AVX-512 VNNI, 512 bit.
#define BANTAM_KERNEL_NAMESPACE avx512
#define BANTAM_KERNEL_ISA kAvx512Vnni
#define BANTAM_KERNEL_IS_BASE

#include "kernels/avx512/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
