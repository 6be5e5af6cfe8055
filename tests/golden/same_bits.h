// Checks that files give the same bits everywhere.
#ifndef BANTAM_TESTS_GOLDEN_SAME_BITS_H_
#define BANTAM_TESTS_GOLDEN_SAME_BITS_H_

#include "pack/build.h"
#include "tests/session/run_helpers.h"

namespace bantam::golden {

/// Expects that all outputs have the bits of the reference kernels, for every instruction set, tile and number of
/// threads, and for each sequence alone.
void expect_same_bits(const convert::FileBytes& file, const testing::Ids& all);

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_SAME_BITS_H_
