// The reference: plain C++ for any machine, and the definition of every other table's bits.
#define BANTAM_KERNEL_NAMESPACE reference
#define BANTAM_KERNEL_ISA kReference

#include "kernels/reference/dot.h"

// The kernels, built on the vectors above.
#include "kernels/generic/table.h"
