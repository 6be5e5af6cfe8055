// The converter's in-memory graph: the schema's object API (fb::ModelT, so that nothing needs translation) plus the
// values of its constants, which the schema keeps outside.
//
// Life of a constant: importers add it as f32 in row-major source order, or as a source to read such rows from;
// quantize passes choose its stored type; pack lays it out (tiles, padding, scales, sums) and writes it to the data
// section.
#ifndef BANTAM_CONVERTER_GRAPH_GRAPH_H_
#define BANTAM_CONVERTER_GRAPH_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bantam_generated.h"

namespace bantam::convert {

/// The source of a large matrix's values, which are read on demand: a mapped file, another type, a transposed matrix,
/// or several pieces.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual size_t rows() const = 0;
  virtual size_t columns() const = 0;
  /// Reads rows [first, first + count) into `out`, row-major.
  virtual void read(size_t first, size_t count, float* out) const = 0;
};

/// Integer weights with their scales: value = integer * scale, for i4 integer * factor * scale.
struct Rounded {
  std::vector<int8_t> integers;
  std::vector<float> scales;
  std::vector<uint8_t> factors;
};

/// Values of one constant tensor before packing: f32, row-major. Aliases share it. The tensor's `type` is the type that
/// it will be stored in.
struct Constant {
  std::vector<float> values;
  /// Used instead of `values` if it is not null (graph/rows.h reads either).
  std::shared_ptr<const RowSource> later;
  /// Used instead of `values` if it is not empty: integers that are stored unchanged, as i8, i16 or i32 according to
  /// the tensor's type (quantize/static.h).
  std::vector<int32_t> numbers;
  /// The values times their column factors as a pass has rounded them (quantize/round.h): integers in row-major order,
  /// one scale per row, and for i4 one factor per group of a row. Null: layout rounds to nearest.
  std::shared_ptr<const Rounded> rounded;
  bool linear_weight = false;  // stored in tiles (tile_k4n16 / tile_n16)
  bool embedding = false;      // looked up by row; never pruned, stored in at least 8 bits
  /// int8 linear weights are stored without their zero blocks (layout sparse_1x4) if the fraction of zero blocks
  /// exceeds this; above 1: never.
  double sparse_above = 2;
  /// int8 linear weights are stored in the layout that needs the fewest bytes: tiles, sparse_1x4 or bitmask_k4n16.
  bool smallest = false;
  /// int8 weights are stored multiplied by their column's factor (quantize/migrate.h); empty: all factors are 1.
  std::vector<float> column_factors;
};

/// A blob of the data section whose bytes are final (tokenizer tables).
struct RawBlob {
  fb::Blob* target = nullptr;  // patched with offset and size by pack; lives in `model`
  std::vector<uint8_t> bytes;
};

struct Graph {
  fb::ModelT model;
  /// One entry per tensor of model.tensors; null for tensors that are not constants.
  std::vector<std::shared_ptr<Constant>> constants;
  std::vector<RawBlob> blobs;
  /// Lines that importers and passes add to the report ("dropped tensor ...").
  std::vector<std::string> notes;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_GRAPH_H_
