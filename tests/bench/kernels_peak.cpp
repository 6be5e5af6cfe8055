// One instruction set's peak loops. CMake compiles this file once for each, with BANTAM_KERNEL_NAMESPACE, the set's
// flags and BANTAM_PEAK_DOT, its dot-product header.
#include BANTAM_PEAK_DOT

#include "tests/bench/kernels_peak.h"
