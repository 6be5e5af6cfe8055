// Low-rank factors of a table of embeddings.
#ifndef BANTAM_CONVERTER_STUDENT_FACTORISE_H_
#define BANTAM_CONVERTER_STUDENT_FACTORISE_H_

#include <cstdint>
#include <vector>

#include "source/checkpoint.h"

namespace bantam::convert {

/// table = rows * projection^t + bias, up to `lost` of the energy around the mean.
struct LowRank {
  MemoryTensor rows;        // [count, rank]
  MemoryTensor projection;  // [width, rank]
  MemoryTensor bias;        // [width]: the mean row
  double lost = 0;          // in [0, 1]
};

/// Factors of `table` [count, width] with the least squared error, row i counted weights[i] > 0 times (the truncated singular
/// value decomposition of the centred rows: Eckart and Young 1936). rank <= width. Jacobi's method in a fixed order, with
/// correctly rounded operations only: the same bytes on every machine. O(count width^2 + 10 width^3).
LowRank factorise(const MemoryTensor& table, const std::vector<double>& weights, uint32_t rank);

/// Eigenvalues of the symmetric `matrix` [n, n], descending, and their unit vectors as columns of `vectors` [n, n].
void symmetric_eigen(std::vector<double> matrix, size_t n, std::vector<double>* values, std::vector<double>* vectors);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_FACTORISE_H_
