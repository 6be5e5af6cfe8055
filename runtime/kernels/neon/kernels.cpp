// aarch64 without extensions.
#define BANTAM_KERNEL_NAMESPACE neon
#define BANTAM_KERNEL_ISA kNeon
#define BANTAM_KERNEL_IS_BASE

#include "kernels/neon/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
