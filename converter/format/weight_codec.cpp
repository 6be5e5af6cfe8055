#include "format/weight_codec.h"

#include <array>
#include <string>

#include "base/error.h"
#include "base/size.h"
#include "format/bitmask.h"
#include "format/sparse_1x4.h"
#include "format/view.h"
#include "kernels/kernels.h"

namespace bantam::convert {
namespace {

size_t padded(size_t count, size_t multiple) {
  return in_memory((uint64_t{count} + multiple - 1) / multiple * multiple);
}

/// Index of weight (n, k) in layout tile_k4n16 [N/16][K/4][16][4].
size_t place_in_tile(size_t n, size_t k, size_t columns) {
  return ((n / 16 * ((columns + 3) / 4) + k / 4) * 16 + n % 16) * 4 + k % 4;
}

std::vector<uint8_t> encode_tiles(const int8_t* weights, size_t rows, size_t columns) {
  std::vector<uint8_t> bytes(in_memory(uint64_t{padded(rows, 16)} * padded(columns, 4)), 0);
  for (size_t n = 0; n < rows; ++n) {
    for (size_t k = 0; k < columns; ++k)
      bytes[place_in_tile(n, k, columns)] = static_cast<uint8_t>(weights[n * columns + k]);
  }
  return bytes;
}

const int8_t* signed_bytes(const uint8_t* bytes) { return reinterpret_cast<const int8_t*>(bytes); }

void visit_tiles(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink) {
  const uint32_t outputs = kernels::pad16(extent(tensor, 0));
  const uint32_t inputs = kernels::pad4(extent(tensor, 1));
  for (uint32_t panel = 0; panel < outputs; panel += 16) {
    for (uint32_t k = 0; k < inputs; k += 4) {
      for (uint32_t n = panel; n < panel + 16; ++n, data += 4) sink.block(n, k, signed_bytes(data));
    }
  }
}

/// Layout k16n1 [N][K], N and K padded to multiples of 16.
std::vector<uint8_t> encode_rows(const int8_t* weights, size_t rows, size_t columns) {
  const size_t stride = padded(columns, 16);
  std::vector<uint8_t> bytes(in_memory(uint64_t{padded(rows, 16)} * stride), 0);
  for (size_t n = 0; n < rows; ++n) {
    for (size_t k = 0; k < columns; ++k) bytes[n * stride + k] = static_cast<uint8_t>(weights[n * columns + k]);
  }
  return bytes;
}

void visit_rows(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink) {
  const uint32_t outputs = kernels::pad16(extent(tensor, 0));
  const uint32_t inputs = kernels::pad16(extent(tensor, 1));
  for (uint32_t n = 0; n < outputs; ++n) {
    for (uint32_t k = 0; k < inputs; k += 4, data += 4) sink.block(n, k, signed_bytes(data));
  }
}

/// Layout tile_i4_k8n16: a byte holds weights k and k + 4, each plus 8; 0x88 is two zeros.
std::vector<uint8_t> encode_int4(const int8_t* weights, size_t rows, size_t columns) {
  const size_t eights = (columns + 7) / 8;
  std::vector<uint8_t> bytes(in_memory(uint64_t{padded(rows, 16)} * eights * 4), 0x88);
  for (size_t n = 0; n < rows; ++n) {
    for (size_t k = 0; k < columns; ++k) {
      uint8_t& byte = bytes[((n / 16 * eights + k / 8) * 16 + n % 16) * 4 + k % 4];
      const int half = weights[n * columns + k] + 8;
      byte = static_cast<uint8_t>(k % 8 < 4 ? (byte & 0xF0) | half : (byte & 0x0F) | half << 4);
    }
  }
  return bytes;
}

void visit_int4(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink) {
  const uint32_t outputs = kernels::pad16(extent(tensor, 0));
  const uint32_t inputs = kernels::pad8(extent(tensor, 1));
  std::array<int8_t, 4> low = {}, high = {};
  for (uint32_t panel = 0; panel < outputs; panel += 16) {
    for (uint32_t k = 0; k < inputs; k += 8) {
      for (uint32_t n = panel; n < panel + 16; ++n, data += 4) {
        for (size_t i = 0; i < 4; ++i) {
          low[i] = static_cast<int8_t>((data[i] & 15) - 8);
          high[i] = static_cast<int8_t>((data[i] >> 4) - 8);
        }
        sink.block(n, k, low.data());
        sink.block(n, k + 4, high.data());
      }
    }
  }
}

/// Layout tile_ternary_k16n16: a byte holds weights k, k + 4, k + 8 and k + 12, each plus 1; 0x55 is four zeros.
std::vector<uint8_t> encode_ternary(const int8_t* weights, size_t rows, size_t columns) {
  const size_t steps = (columns + 15) / 16;
  std::vector<uint8_t> bytes(in_memory(uint64_t{padded(rows, 16)} * steps * 4), 0x55);
  for (size_t n = 0; n < rows; ++n) {
    for (size_t k = 0; k < columns; ++k) {
      uint8_t& byte = bytes[((n / 16 * steps + k / 16) * 16 + n % 16) * 4 + k % 4];
      const size_t bit = k % 16 / 4 * 2;
      const int code = weights[n * columns + k] + 1;
      byte = static_cast<uint8_t>((byte & ~(3 << bit)) | code << bit);
    }
  }
  return bytes;
}

void visit_ternary(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink) {
  const uint32_t outputs = kernels::pad16(extent(tensor, 0));
  const uint32_t inputs = kernels::pad16(extent(tensor, 1));
  std::array<int8_t, 4> weights = {};
  for (uint32_t panel = 0; panel < outputs; panel += 16) {
    for (uint32_t k = 0; k < inputs; k += 16) {
      for (uint32_t n = panel; n < panel + 16; ++n, data += 4) {
        for (uint32_t t = 0; t < 4; ++t) {
          for (size_t i = 0; i < 4; ++i) weights[i] = static_cast<int8_t>((data[i] >> (2 * t) & 3) - 1);
          sink.block(n, k + 4 * t, weights.data());
        }
      }
    }
  }
}

constexpr WeightCodec kCodecs[] = {
    {fb::Layout::tile_k4n16, "i8", false, encode_tiles, visit_tiles},
    {fb::Layout::k16n1, "i8", false, encode_rows, visit_rows},
    {fb::Layout::tile_i4_k8n16, "i4", false, encode_int4, visit_int4},
    {fb::Layout::tile_ternary_k16n16, "ternary", false, encode_ternary, visit_ternary},
    {fb::Layout::sparse_1x4, "i8 sparse", true, compress_1x4, visit_1x4},
    {fb::Layout::bitmask_k4n16, "i8 bitmask", true, compress_bitmask, visit_bitmask},
};

}  // namespace

std::vector<fb::Layout> compressed_layouts() {
  std::vector<fb::Layout> layouts;
  for (const WeightCodec& codec : kCodecs) {
    if (codec.compresses) layouts.push_back(codec.layout);
  }
  return layouts;
}

const WeightCodec* find_weight_codec(fb::Layout layout) {
  for (const WeightCodec& codec : kCodecs) {
    if (codec.layout == layout) return &codec;
  }
  return nullptr;
}

const WeightCodec& weight_codec(fb::Layout layout) {
  const WeightCodec* codec = find_weight_codec(layout);
  if (codec == nullptr) {
    throw Error(ExitCode::kInternal, std::string("no codec for layout ") + fb::EnumNameLayout(layout));
  }
  return *codec;
}

GroupFactors::GroupFactors(const fb::Tensor& tensor, const uint8_t* scales) {
  if (!int4_weights(tensor)) return;
  factors_ = scales + size_t{kernels::pad16(extent(tensor, 0))} * sizeof(float);
  groups_ = int4_groups(tensor);
  group_ = tensor.group();
}

}  // namespace bantam::convert
