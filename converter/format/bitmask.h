// Layout bitmask_k4n16 of schemas/bantam.fbs, from and to rows.
#ifndef BANTAM_CONVERTER_FORMAT_BITMASK_H_
#define BANTAM_CONVERTER_FORMAT_BITMASK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/weight_codec.h"

namespace bantam::convert {

/// The bytes of the layout: an eighth of those of int8 tiles, and one for each of `rows` rows of `columns` integers that is not
/// 0. O(rows * columns).
std::vector<uint8_t> compress_bitmask(const int8_t* weights, size_t rows, size_t columns);

/// WeightCodec::visit.
void visit_bitmask(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_BITMASK_H_
