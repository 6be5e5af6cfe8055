// Cortex-M4, M7 and others with the DSP extension: one lane, and int8 dot products with SMLAD.
#define BANTAM_KERNEL_NAMESPACE dsp
#define BANTAM_KERNEL_ISA kDsp

#include "kernels/dsp/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
