// The form of a .bantam file in a microcontroller's flash.
#ifndef BANTAM_CONVERTER_FIRMWARE_DEVICE_FILE_H_
#define BANTAM_CONVERTER_FIRMWARE_DEVICE_FILE_H_

#include <cstddef>
#include <cstdint>

#include "firmware/target.h"
#include "pack/helium.h"

namespace bantam::firmware {

/// Returns the file bytes[0, size) without the parts that a device never reads: the tokenizer's table of whole words,
/// which only saves time on large cores, names of tensors and operators, and provenance. Outputs, labels and the
/// license stay; ids, offsets and outputs have the same bits. Weights are laid out for the target's kernels,
/// `block_rows` rows at a time. `keep_sparse`: layers stored without zeros stay so, even if that is slower. The result
/// can be opened with Model::open. Throws Error.
convert::HeliumFile device_file(const void* bytes, size_t size, const Target& target, uint32_t block_rows,
                                bool keep_sparse);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_DEVICE_FILE_H_
