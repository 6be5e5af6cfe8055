// ARMv7-A with NEON and fused multiply-add (VFPv4).
#define BANTAM_KERNEL_NAMESPACE armv7fma
#define BANTAM_KERNEL_ISA kArmv7Neon

#include "kernels/armv7neon/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
