// Blocks of integers of GGUF files, as f32 values.
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_BLOCKS_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_BLOCKS_H_

#include <cstdint>

namespace bantam::convert {

/// Are blocks of the type with this number known here?
bool reads_blocks(uint32_t number);

/// The values of one block, as many as its type has elements. `block` holds its bytes.
void read_block(uint32_t number, const char* block, float* out);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_BLOCKS_H_
