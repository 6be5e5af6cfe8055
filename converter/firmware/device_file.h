// A .bantam file as it lies in a microcontroller's flash.
#ifndef BANTAM_CONVERTER_FIRMWARE_DEVICE_FILE_H_
#define BANTAM_CONVERTER_FIRMWARE_DEVICE_FILE_H_

#include <string>

#include "pack/build.h"

namespace bantam::firmware {

/// The file bytes[0, size) without what a device never reads: the tokenizer's table of whole words, which saves time on
/// large cores only, names of tensors and operators, provenance. Outputs, labels and the licence stay; ids, offsets and
/// outputs have the same bits. Weights are laid out for `isa` (a folder of runtime/kernels). Opened with Model::open.
/// Throws Error.
convert::FileBytes device_file(const void* bytes, size_t size, const std::string& isa);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_DEVICE_FILE_H_
