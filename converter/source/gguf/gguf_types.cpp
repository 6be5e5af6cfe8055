#include "source/gguf/gguf_types.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/float_bits.h"
#include "source/gguf/gguf_blocks.h"

namespace bantam::convert {
namespace {

enum GgufTypeNumber : uint32_t { kGgufF32 = 0, kGgufF16 = 1, kGgufBf16 = 30 };

constexpr std::array<GgufType, 34> kGgufTypes = {
    {{kGgufF32, "F32", 1, 4},   {kGgufF16, "F16", 1, 2},  {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
     {6, "Q5_0", 32, 22},       {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 40},
     {10, "Q2_K", 256, 84},     {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
     {14, "Q6_K", 256, 210},    {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
     {18, "IQ3_XXS", 256, 98},  {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
     {22, "IQ2_S", 256, 82},    {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
     {26, "I32", 1, 4},         {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
     {kGgufBf16, "BF16", 1, 2}, {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
     {40, "NVFP4", 64, 36},     {41, "Q1_0", 128, 18}}};

uint16_t half_at(std::string_view bytes, size_t at) {
  uint16_t bits = 0;
  std::memcpy(&bits, bytes.data() + at, sizeof bits);
  return bits;
}

}  // namespace

const GgufType* gguf_type(uint32_t number) {
  const auto found = std::find_if(kGgufTypes.begin(), kGgufTypes.end(),
                                  [number](const GgufType& type) { return type.number == number; });
  return found == kGgufTypes.end() ? nullptr : &*found;
}

bool is_plain(const GgufType& type) {
  return type.number == kGgufF32 || type.number == kGgufF16 || type.number == kGgufBf16;
}
bool is_blocks(const GgufType& type) { return reads_blocks(type.number); }

std::vector<float> gguf_values(const GgufType& type, std::string_view bytes) {
  std::vector<float> out(bytes.size() / type.bytes * type.elements);
  if (type.number == kGgufF32 && !bytes.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
  if (type.number == kGgufF16 || type.number == kGgufBf16) {
    for (size_t i = 0; i < out.size(); ++i) {
      const uint16_t bits = half_at(bytes, i * sizeof bits);
      out[i] = type.number == kGgufF16 ? float_from_f16(bits) : float_from_bf16(bits);
    }
  }
  if (!is_blocks(type)) return out;
  float* to = out.data();
  for (size_t at = 0; at + type.bytes <= bytes.size(); at += type.bytes, to += type.elements) {
    read_block(type.number, bytes.data() + at, to);
  }
  return out;
}

}  // namespace bantam::convert
