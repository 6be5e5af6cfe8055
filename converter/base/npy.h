// NumPy's file format, version 1.0: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#ifndef BANTAM_CONVERTER_BASE_NPY_H_
#define BANTAM_CONVERTER_BASE_NPY_H_

#include <cstddef>
#include <string>
#include <vector>

namespace bantam::convert {

/// The bytes of a .npy file with a row-major f32 matrix; values.size() is rows * columns.
std::string npy_file(const std::vector<float>& values, size_t rows, size_t columns);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_NPY_H_
