// Cortex-M55 and others with Helium.
#define BANTAM_KERNEL_NAMESPACE mve
#define BANTAM_KERNEL_ISA kMve

#include "kernels/mve/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
