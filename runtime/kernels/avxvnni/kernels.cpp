// 256-bit VNNI, VEX encoded.
#define BANTAM_KERNEL_NAMESPACE avxvnni
#define BANTAM_KERNEL_ISA kAvxVnni
#define BANTAM_KERNEL_BASE avx2

#include "kernels/vnni256/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
