// aarch64 with sdot (FEAT_DotProd).
#define BANTAM_KERNEL_NAMESPACE neondot
#define BANTAM_KERNEL_ISA kNeonDot
#define BANTAM_KERNEL_BASE neon

#include "kernels/neondot/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
