// aarch64 with smmla and usmmla (FEAT_I8MM).
#define BANTAM_KERNEL_NAMESPACE neoni8mm
#define BANTAM_KERNEL_ISA kNeonI8mm
#define BANTAM_KERNEL_BASE neon

#include "kernels/neoni8mm/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
