// Encodes and decodes layout sparse_1x4 of schemas/bantam.fbs.
#ifndef BANTAM_CONVERTER_FORMAT_SPARSE_1X4_H_
#define BANTAM_CONVERTER_FORMAT_SPARSE_1X4_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/weight_codec.h"

namespace bantam::convert {

/// The fraction of all-zero blocks (one output by four inputs) in `rows` rows of `columns` integers.
double zero_blocks(const int8_t* weights, size_t rows, size_t columns);

/// Returns the bytes of the layout. Outputs of a span are sorted by their number of blocks, to minimize padding. At
/// most 262,144 columns (a block's index has 16 bits). O(rows * columns).
std::vector<uint8_t> compress_1x4(const int8_t* weights, size_t rows, size_t columns);

/// Implements WeightCodec::visit: visits stored blocks only. A block may occur twice, but at most once with nonzero
/// weights.
void visit_1x4(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_SPARSE_1X4_H_
