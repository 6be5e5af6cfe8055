// A .bantam file as bytes in memory: put together from its parts, judged as the runtime judges it.
#ifndef BANTAM_CONVERTER_FORMAT_FILE_H_
#define BANTAM_CONVERTER_FORMAT_FILE_H_

#include <cstdint>

#include "bantam_generated.h"
#include "format/data_section.h"
#include "format/file_bytes.h"

namespace bantam::convert {

/// Header, `model` and the data section that its blobs lie in, with both checksums. The same input gives the same bytes. The section's
/// memory becomes the file's; what it has in front, if anything, is where header and graph go.
FileBytes assemble_file(const fb::ModelT& model, DataSection data);

/// How many bytes that has; the section may be one that counts.
uint64_t size_of_file(const fb::ModelT& model, const DataSection& data);

/// Opens `bytes` with Model::open. Throws Error (internal, or unsupported) with the fault when that refuses them.
void check_file(const FileBytes& bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_FILE_H_
