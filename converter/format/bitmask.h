// Encodes and decodes layout bitmask_k4n16 of schemas/bantam.fbs.
#ifndef BANTAM_CONVERTER_FORMAT_BITMASK_H_
#define BANTAM_CONVERTER_FORMAT_BITMASK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/weight_codec.h"

namespace bantam::convert {

/// Returns the bytes of the layout for `rows` rows of `columns` integers: an eighth of the size of int8 tiles, plus one
/// byte per nonzero integer. O(rows * columns).
std::vector<uint8_t> compress_bitmask(const int8_t* weights, size_t rows, size_t columns);

/// Implements WeightCodec::visit.
void visit_bitmask(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_BITMASK_H_
