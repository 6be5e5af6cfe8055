// Layout: constants in their stored types and memory order, one aligned blob after the other.
#ifndef BANTAM_CONVERTER_PACK_LAYOUT_H_
#define BANTAM_CONVERTER_PACK_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// The data section while it grows. Every blob begins at a multiple of 64 bytes; gaps are zero.
class DataSection {
 public:
  /// Appends `size` bytes and returns where they lie.
  fb::Blob add(const void* bytes, size_t size);
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

/// Lays out every constant as its type and its use say (Linear weights in tiles, tables in rows, vectors
/// padded to 16 elements), in the order in which ops use them, then the tokenizers' blobs; fills layout,
/// blobs, scale kind and error of the tensors. The quantised values are decided here.
DataSection lay_out(Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_LAYOUT_H_
