// Compares a file with the answers of the original library, for committed and for larger models.
#ifndef BANTAM_TESTS_GOLDEN_COMPARE_H_
#define BANTAM_TESTS_GOLDEN_COMPARE_H_

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "bantam_generated.h"

namespace bantam::golden {

/// The largest difference between an f32 file and the library in double precision. The README also promises it for real
/// models.
inline constexpr double kLargestDifference = 2e-4;

/// Converts the model in `directory` and calls use(output's name, expected value, file's value) for every stored value
/// of every stride-th case of its expected.jsonl.
void compare(const std::filesystem::path& directory, fb::DType weights,
             const std::function<void(const std::string&, double, double)>& use, size_t stride = 1);

/// Expects that every f32 value differs by at most kLargestDifference.
void expect_equal(const std::filesystem::path& directory, size_t stride = 1);

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_COMPARE_H_
