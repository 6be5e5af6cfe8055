// The 64-byte file header; schemas/bantam.fbs states its layout.
#ifndef BANTAM_FORMAT_HEADER_H_
#define BANTAM_FORMAT_HEADER_H_

#include <stddef.h>
#include <stdint.h>

#include "bantam/status.h"

namespace bantam {

constexpr uint32_t kHeaderBytes = 64;
/// Offset of the checksums, which do not cover themselves.
constexpr uint32_t kChecksumsBegin = 56;
constexpr uint16_t kMajorVersion = 1;
constexpr uint16_t kMinorVersion = 0;
/// Alignment of sections and blobs within the file.
constexpr uint64_t kFileAlignment = 64;

/// The header's fields after the magic bytes, in the layout of the file.
struct FileHeader {
  uint16_t major = kMajorVersion;
  uint16_t minor = kMinorVersion;
  uint32_t header_size = kHeaderBytes;
  uint64_t file_size = 0;
  uint64_t graph_offset = 0;
  uint64_t graph_size = 0;
  uint64_t data_offset = 0;
  uint64_t data_size = 0;
  uint32_t graph_crc = 0;  // checksum of header and graph
  uint32_t data_crc = 0;
};

/// Reads and checks the header of `bytes[0, size)`: magic, version, sizes, alignment, order. After kOk the sections
/// that it describes lie within `size`. Returns the checksums without comparing them.
Status read_header(const uint8_t* bytes, size_t size, FileHeader* out, Fault* fault);

/// Writes the 64 bytes that read_header reads.
void write_header(const FileHeader& header, uint8_t out[kHeaderBytes]);

/// Return the values that graph_crc and data_crc must have for the file `bytes`, whose header read_header has checked
/// or write_header has written. O(bytes that they cover).
uint32_t graph_checksum(const FileHeader& header, const uint8_t* bytes);
uint32_t data_checksum(const FileHeader& header, const uint8_t* bytes);

/// Writes `header` with correct checksums to the first 64 of the header.file_size bytes of a file whose other bytes are
/// already in place.
void seal(FileHeader header, uint8_t* bytes);

}  // namespace bantam

#endif  // BANTAM_FORMAT_HEADER_H_
