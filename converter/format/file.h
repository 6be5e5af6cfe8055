// A .bantam file as bytes in memory: assembles it from its parts, and checks it as the runtime does.
#ifndef BANTAM_CONVERTER_FORMAT_FILE_H_
#define BANTAM_CONVERTER_FORMAT_FILE_H_

#include <cstdint>

#include "bantam_generated.h"
#include "format/data_section.h"
#include "format/file_bytes.h"

namespace bantam::convert {

/// Assembles header, `model` and the data section with the model's blobs, including both checksums. The same input
/// gives the same bytes. The section's memory becomes the file's; header and graph go to its `front` bytes, if it has
/// any.
FileBytes assemble_file(const fb::ModelT& model, DataSection data);

/// The size of that file; the section may be one that only counts.
uint64_t size_of_file(const fb::ModelT& model, const DataSection& data);

/// Opens `bytes` with Model::open. Throws Error (internal, or unsupported) with the fault if that fails.
void check_file(const FileBytes& bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_FILE_H_
