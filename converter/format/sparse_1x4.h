// Layout sparse_1x4 of schemas/bantam.fbs, from and to rows.
#ifndef BANTAM_CONVERTER_FORMAT_SPARSE_1X4_H_
#define BANTAM_CONVERTER_FORMAT_SPARSE_1X4_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/weight_codec.h"

namespace bantam::convert {

/// Share of the blocks of one output by four inputs that are all 0, of `rows` rows of `columns` integers.
double zero_blocks(const int8_t* weights, size_t rows, size_t columns);

/// The bytes of the layout. Outputs of a span are sorted by their number of blocks, so that few zeros are stored. Columns at
/// most 262,144 (a block's place is 16 bits). O(rows * columns).
std::vector<uint8_t> compress_1x4(const int8_t* weights, size_t rows, size_t columns);

/// WeightCodec::visit: stored blocks only. One may come twice where all but one are zeros.
void visit_1x4(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_SPARSE_1X4_H_
