// Low-rank factors of an embedding table.
#ifndef BANTAM_CONVERTER_STUDENT_FACTORISE_H_
#define BANTAM_CONVERTER_STUDENT_FACTORISE_H_

#include <cstdint>
#include <vector>

#include "source/checkpoint.h"

namespace bantam::convert {

/// table = rows * projection^t + bias, except for the fraction `lost` of the energy around the mean.
struct LowRank {
  MemoryTensor rows;        // [count, rank]
  MemoryTensor projection;  // [width, rank]
  MemoryTensor bias;        // [width]: the mean row
  double lost = 0;          // fraction in [0, 1]
};

/// Factors `table` [count, width] with the least squared error, in which row i has the weight weights[i] > 0 (truncated
/// singular value decomposition of the centered rows: Eckart and Young 1936). rank <= width. Uses Jacobi's method in a
/// fixed order with correctly rounded operations only, so every machine gets the same bytes. O(count width^2 + 10
/// width^3).
LowRank factorise(const MemoryTensor& table, const std::vector<double>& weights, uint32_t rank);

/// Computes the eigenvalues of the symmetric `matrix` [n, n], descending, and their unit eigenvectors as columns of
/// `vectors` [n, n].
void symmetric_eigen(std::vector<double> matrix, size_t n, std::vector<double>* values, std::vector<double>* vectors);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_FACTORISE_H_
