// The 64-byte file header; schemas/bantam.fbs states its layout.
#ifndef BANTAM_MODEL_HEADER_H_
#define BANTAM_MODEL_HEADER_H_

#include <stddef.h>
#include <stdint.h>

#include "bantam/status.h"

namespace bantam {

constexpr uint32_t kHeaderBytes = 64;
constexpr uint16_t kMajorVersion = 1;
constexpr uint16_t kMinorVersion = 0;
/// Alignment of sections and blobs within the file.
constexpr uint64_t kFileAlignment = 64;

struct FileHeader {
  uint16_t major = kMajorVersion;
  uint16_t minor = kMinorVersion;
  uint64_t file_size = 0;
  uint64_t graph_offset = 0;
  uint64_t graph_size = 0;
  uint64_t data_offset = 0;
  uint64_t data_size = 0;
  uint32_t graph_crc = 0;
  uint32_t data_crc = 0;
};

/// Reads and checks the header of `bytes[0, size)`: magic, version, sizes, alignment, order. The sections
/// it names lie within `size` when it returns kOk. Checksums are returned, not compared.
Status read_header(const uint8_t* bytes, size_t size, FileHeader* out, Fault* fault);

/// The 64 bytes that read_header reads back.
void write_header(const FileHeader& header, uint8_t out[kHeaderBytes]);

/// CRC-32C (Castagnoli, reflected 0x82F63B78) of `size` bytes; pass the previous result as `crc` to go on.
/// Needs no table: two operations a bit. O(size).
uint32_t crc32c(const uint8_t* bytes, uint64_t size, uint32_t crc = 0);

}  // namespace bantam

#endif  // BANTAM_MODEL_HEADER_H_
