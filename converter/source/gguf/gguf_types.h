// Types of elements in a GGUF file: what blocks of them are, as ggml defines it.
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TYPES_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// A row is blocks of so many elements in so many bytes.
struct GgufType {
  uint32_t number;
  const char* name;
  uint32_t elements, bytes;
};

/// Null for a number that ggml has not, or no longer has.
const GgufType* gguf_type(uint32_t number);

/// Elements that safetensors names alike: F32, F16, BF16.
bool is_plain(const GgufType& type);
/// Blocks whose values are known here: Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS, MXFP4.
bool is_blocks(const GgufType& type);

/// The f32 values that elements stand for: exact, but for types with minima (Q4_1, Q5_1, Q2_K, Q4_K, Q5_K), which are
/// rounded once, when the minimum is taken off. `type` is plain or blocks; `bytes` whole blocks.
std::vector<float> gguf_values(const GgufType& type, std::string_view bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TYPES_H_
