// Matrices of four-bit floats in blocks with a shared exponent (MXFP4), as gpt-oss stores experts: a pair of U8 tensors
// NAME_blocks [experts, rows, groups, 16] and NAME_scales [experts, rows, groups].
// Format: OCP Microscaling Formats (MX) Specification 1.0, sections 5.2 (FP4 E2M1) and 5.4 (E8M0).
#ifndef BANTAM_CONVERTER_SOURCE_PACKED_BLOCKS_H_
#define BANTAM_CONVERTER_SOURCE_PACKED_BLOCKS_H_

#include <string>

#include "base/json_file.h"
#include "source/checkpoint.h"
#include "source/weight_file.h"

namespace bantam::convert {

/// Returns true if config.json says that weights are stored so.
bool has_packed_blocks(const Json& config);

/// Describes the tensor NAME that both parts hold: [experts, columns, rows] with 32 * groups columns, as transformers
/// unpacks it. Throws Error (kInvalid) with the cause if `scales` does not belong to `blocks`, or the size overflows.
StoredTensor describe_packed(const StoredTensor& blocks, const StoredTensor& scales);

/// Writes the values of `tensor`, a result of describe_packed, from the bytes of both parts to out[tensor.elements]. A
/// byte of a block holds two values, the first in its low bits; a scale s multiplies its block by 2^(s - 127). Throws
/// Error (kInvalid) with the cause if a scale is NaN (255), or a value is not a finite f32. O(elements).
void unpack_blocks(const StoredTensor& tensor, const std::string& blocks, const std::string& scales, float* out);

/// Joins each pair of U8 tensors NAME_blocks and NAME_scales to the tensor NAME, which is read on demand. Throws Error
/// (kInvalid) that names the file and the tensor, as reading does.
void join_packed_blocks(Checkpoint* checkpoint);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_PACKED_BLOCKS_H_
