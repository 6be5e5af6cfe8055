// The last header of a translation unit whose kernels are mostly another instruction set's: the table of the kernels of
// namespace `others`, with kLinearRows rows of a linear layer at a time. BANTAM_KERNEL_ISA as in table.h.
#ifndef BANTAM_KERNELS_GENERIC_TABLE_OF_OTHERS_H_
#define BANTAM_KERNELS_GENERIC_TABLE_OF_OTHERS_H_

#include "kernels/tables.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

// NOLINTNEXTLINE(misc-definitions-in-headers): see table.h
const Table kTable = {
    Isa::BANTAM_KERNEL_ISA,
    kOffsetXor,
    kLinearRows,
    16 * kSparseVectors,
#define BANTAM_KERNEL(name, Args) others::name,
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_TABLE_OF_OTHERS_H_
