// The converter's in-memory graph: the schema's own object form (fb::ModelT: same operators, same
// attributes, nothing to translate) plus the values of its constants, which the schema keeps outside.
//
// Life of a constant: importers add it as f32 in row-major source order, or say where such rows are read; quantize passes choose its
// stored type; pack lays it out (tiles, padding, scales, sums) and writes it to the data section.
#ifndef BANTAM_CONVERTER_GRAPH_GRAPH_H_
#define BANTAM_CONVERTER_GRAPH_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bantam_generated.h"

namespace bantam::convert {

/// Where the values of a large matrix lie until somebody wants some of them: in a mapped file, as another type, turned, in pieces.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual size_t rows() const = 0;
  virtual size_t columns() const = 0;
  /// Rows [first, first + count), one behind the other.
  virtual void read(size_t first, size_t count, float* out) const = 0;
};

/// Integer weights with their scales: value = integer * scale, for i4 integer * factor * scale.
struct Rounded {
  std::vector<int8_t> integers;
  std::vector<float> scales;
  std::vector<uint8_t> factors;
};

/// Values of one constant tensor, f32, row-major, before packing. Shared by aliases. The type it will be stored in is its
/// tensor's `type`.
struct Constant {
  std::vector<float> values;
  /// Instead of values, where it is not null (graph/rows.h reads either).
  std::shared_ptr<const RowSource> later;
  /// Instead of values where they are not empty: integers that are stored as they are, i8, i16 or i32 as the tensor's type
  /// says (quantize/static.h).
  std::vector<int32_t> numbers;
  /// What a pass has made of the values times their columns' factors (quantize/round.h): integers in row-major order, a scale
  /// for each row, and for i4 the factors of each row's groups. Absent: layout rounds to nearest.
  std::shared_ptr<const Rounded> rounded;
  bool linear_weight = false;  // goes to tiles (tile_k4n16 / tile_n16)
  bool embedding = false;      // looked up by row; not pruned, int8 at least
  /// int8 linear weights are stored without the blocks that are 0 (layout sparse_1x4) when more of them are than this share;
  /// above 1: never.
  double sparse_above = 2;
  /// int8 linear weights are stored in the layout of fewest bytes: tiles, sparse_1x4 or bitmask_k4n16.
  bool smallest = false;
  /// int8 weights are stored times their column's factor (quantize/migrate.h); empty: 1.
  std::vector<float> column_factors;
};

/// One blob of the data section that is already in its final bytes (tokenizer tables).
struct RawBlob {
  fb::Blob* target = nullptr;  // patched with offset and size by pack; lives in `model`
  std::vector<uint8_t> bytes;
};

struct Graph {
  fb::ModelT model;
  /// Index-parallel to model.tensors; null for tensors that are not constants.
  std::vector<std::shared_ptr<Constant>> constants;
  std::vector<RawBlob> blobs;
  /// Report lines that importers and passes leave for the user ("dropped tensor ...").
  std::vector<std::string> notes;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_GRAPH_H_
