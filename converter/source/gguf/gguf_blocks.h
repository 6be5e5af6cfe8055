// Dequantizes the integer blocks of GGUF files to f32.
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_BLOCKS_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_BLOCKS_H_

#include <cstdint>

namespace bantam::convert {

/// Returns true if blocks of the type with this number are supported.
bool reads_blocks(uint32_t number);

/// Writes the values of one block, as many as its type has elements. `block` holds its bytes.
void read_block(uint32_t number, const char* block, float* out);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_BLOCKS_H_
