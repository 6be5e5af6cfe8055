// Element types of a GGUF file and the sizes of their blocks, as ggml defines them.
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TYPES_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// A row consists of blocks with `elements` elements in `bytes` bytes each.
struct GgufType {
  uint32_t number;
  const char* name;
  uint32_t elements, bytes;
};

/// Null for a number that ggml does not define, or no longer defines.
const GgufType* gguf_type(uint32_t number);

/// Returns true for types that safetensors names in the same way: F32, F16, BF16.
bool is_plain(const GgufType& type);
/// Returns true for supported block types: Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS, MXFP4.
bool is_blocks(const GgufType& type);

/// Returns the elements' f32 values. They are exact, except for types with minima (Q4_1, Q5_1, Q2_K, Q4_K, Q5_K), where
/// subtracting the minimum rounds once. `type` is plain or a block type; `bytes` holds whole blocks.
std::vector<float> gguf_values(const GgufType& type, std::string_view bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TYPES_H_
