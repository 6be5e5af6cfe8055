// Cores without vectors or SIMD: the reference's code, built for the target.
#define BANTAM_KERNEL_NAMESPACE scalar
#define BANTAM_KERNEL_ISA kScalar

#include "kernels/reference/dot.h"

// The kernels, over the vectors above.
#include "kernels/generic/table.h"
