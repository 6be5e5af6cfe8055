// Converts linear weights between rows and the bytes of a file; a table has one entry per layout of schemas/bantam.fbs.
#ifndef BANTAM_CONVERTER_FORMAT_WEIGHT_CODEC_H_
#define BANTAM_CONVERTER_FORMAT_WEIGHT_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bantam_generated.h"

namespace bantam::convert {

/// Receives the weights of a matrix, four inputs of one output at a time.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  /// weights[i] belongs to output n and input k + i; k is a multiple of 4. n and k may be in the padding.
  virtual void block(uint32_t n, uint32_t k, const int8_t* weights) = 0;
};

/// Encodes and decodes the integer weights of one layout.
struct WeightCodec {
  fb::Layout layout;
  /// The name of these weights in reports.
  const char* name;
  /// True if int8 weights may take fewer bytes than in tiles. The converter tries these layouts if the smallest file is
  /// requested.
  bool compresses;
  /// Returns the bytes of Tensor.data for weights [rows][columns], row-major. O(rows * columns).
  std::vector<uint8_t> (*encode)(const int8_t* weights, size_t rows, size_t columns);
  /// Passes all stored weights to `sink`, including padding; weights that are not stored are 0. `tensor` belongs to an
  /// open model, and its data begins at `data`. int4 weights are passed without their groups' factors. O(bytes of the
  /// data).
  void (*visit)(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink);
};

/// Layouts that may take fewer bytes than tiles, in the order of the table.
std::vector<fb::Layout> compressed_layouts();

/// Returns the codec of a layout of integer weights; null for any other layout.
const WeightCodec* find_weight_codec(fb::Layout layout);

/// Returns the codec of a layout; throws Error (internal) if there is none.
const WeightCodec& weight_codec(fb::Layout layout);

/// The group factors of int4 weights; 1 for other layouts. A stored integer is multiplied by its factor and then by its
/// output's scale.
class GroupFactors {
 public:
  /// `scales` points to the tensor's scales; the factors follow them.
  GroupFactors(const fb::Tensor& tensor, const uint8_t* scales);
  int of(uint32_t n, uint32_t k) const {
    return factors_ == nullptr ? 1 : factors_[(size_t{n} / 16 * groups_ + k / group_) * 16 + n % 16];
  }

 private:
  const uint8_t* factors_ = nullptr;
  size_t groups_ = 0;
  uint32_t group_ = 1;
};

/// Returns true if a tensor has this blob.
inline bool present(const fb::Blob* blob) { return blob != nullptr && blob->size() != 0; }

/// Index of weight (n, k) in float tiles [N/16][K][16], N padded with zeros.
inline size_t place_in_tile_n16(size_t n, size_t k, size_t columns) { return (n / 16 * columns + k) * 16 + n % 16; }

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_WEIGHT_CODEC_H_
