// Cores without vectors or SIMD: the reference's code, built for the target, with its own dot products for the
// instructions of Armv6-M.
#define BANTAM_KERNEL_NAMESPACE scalar
#define BANTAM_KERNEL_ISA kScalar

#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
#include "kernels/scalar/dot.h"
#else
#include "kernels/reference/dot.h"
#endif

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
