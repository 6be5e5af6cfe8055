// Files that answer with the same bits everywhere.
#ifndef BANTAM_TESTS_GOLDEN_SAME_BITS_H_
#define BANTAM_TESTS_GOLDEN_SAME_BITS_H_

#include "pack/build.h"
#include "tests/session/run_helpers.h"

namespace bantam::golden {

/// Expects the bits of all outputs that the reference kernels give, of every instruction set, tile, number of threads and of each
/// sequence alone.
void expect_same_bits(const convert::FileBytes& file, const testing::Ids& all);

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_SAME_BITS_H_
