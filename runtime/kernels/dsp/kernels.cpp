// Cortex-M4, M7 and others with the DSP extension: numbers, and int8 dot products by SMLAD.
#define BANTAM_KERNEL_NAMESPACE dsp
#define BANTAM_KERNEL_ISA kDsp

#include "kernels/dsp/dot.h"

// The kernels, over the vectors above.
#include "kernels/generic/table.h"
