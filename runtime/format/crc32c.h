// The checksum of the file format.
#ifndef BANTAM_FORMAT_CRC32C_H_
#define BANTAM_FORMAT_CRC32C_H_

#include <stddef.h>
#include <stdint.h>

namespace bantam {

/// Computes the CRC-32C of `size` bytes (RFC 3720: reflected polynomial 0x82F63B78, start and end inverted; "123456789"
/// yields 0xE3069283); to continue, pass the previous result as `crc`. Any one flipped bit, any two within 256 MB and
/// any burst of 32 bits change it. Uses the processor's CRC instruction if it has one. O(size).
uint32_t crc32c(const uint8_t* bytes, uint64_t size, uint32_t crc = 0);

/// Computes the same number without special instructions.
uint32_t crc32c_portable(const uint8_t* bytes, uint64_t size, uint32_t crc = 0);

}  // namespace bantam

#endif  // BANTAM_FORMAT_CRC32C_H_
