// ARMv7-A with NEON.
#define BANTAM_KERNEL_NAMESPACE armv7neon
#define BANTAM_KERNEL_ISA kArmv7Neon

#include "kernels/armv7neon/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
