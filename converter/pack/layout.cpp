#include "pack/layout.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/float_bits.h"
#include "base/half.h"
#include "base/size.h"
#include "format/header.h"
#include "format/sparse_1x4.h"
#include "format/weight_codec.h"
#include "graph/access.h"
#include "graph/rows.h"
#include "graph/tensor_classes.h"
#include "quantize/int4.h"
#include "quantize/int8.h"
#include "quantize/ternary.h"
#include "quantize/types.h"

namespace bantam::convert {

namespace {

template <typename T>
std::unique_ptr<fb::Blob> store(DataSection& data, const std::vector<T>& values) {
  return std::make_unique<fb::Blob>(data.add(values.data(), values.size() * sizeof(T)));
}

/// A constant matrix [rows, columns] of the source, row-major.
struct Matrix {
  size_t rows;
  size_t columns;
  ConstantRows& source;
  const float* row(size_t r) const { return source.row(r); }
};

/// Number of rows that are rounded before they are laid out, a multiple of the tile height.
constexpr size_t kRoundedRows = 64;

/// Row n of the source, multiplied by the factors of its columns.
std::vector<float> scaled_row(const Matrix& matrix, const Constant& constant, size_t n) {
  const float* row = matrix.row(n);
  std::vector<float> values(row, row + matrix.columns);
  for (size_t k = 0; k < constant.column_factors.size(); ++k) values[k] *= constant.column_factors[k];
  return values;
}

/// Updates the tensor's error, in units of the source, with the errors of row n, whose stored values are reads[k].
void note_error(const Matrix& matrix, const Constant& constant, size_t n, const std::vector<float>& reads,
                fb::TensorT& tensor) {
  const float* row = matrix.row(n);
  for (size_t k = 0; k < matrix.columns; ++k) {
    const float read = reads[k] / (constant.column_factors.empty() ? 1.0f : constant.column_factors[k]);
    tensor.error = std::max(tensor.error, std::fabs(read - row[k]));
  }
}

/// Determines the integers of row n, from the pass that rounded them or by rounding to nearest, and its scale. tiled:
/// for a linear layer.
void round_row(const Matrix& matrix, const Constant& constant, bool tiled, size_t n, float* scale, int8_t* row) {
  if (constant.rounded != nullptr) {
    *scale = constant.rounded->scales[n];
    std::copy_n(constant.rounded->integers.begin() + static_cast<ptrdiff_t>(n * matrix.columns), matrix.columns, row);
    return;
  }
  const std::vector<float> values = scaled_row(matrix, constant, n);
  *scale = integer_scale(values.data(), matrix.columns);
  if (*scale == 0) *scale = (tiled ? linear_scale : int8_scale)(values.data(), matrix.columns);
  int8_quantize(values.data(), matrix.columns, *scale, row);
}

/// Encodes linear weights [rows][columns] in tiles, or in a layout without zeros. Static layers do not support
/// bitmasks. Clears the tensor's fits_words if a row does not fit.
std::vector<uint8_t> linear_bytes(const std::vector<int8_t>& integers, size_t rows, size_t columns,
                                  const Constant& constant, fb::TensorT& tensor) {
  for (size_t row = 0; row < rows && tensor.fits_words; ++row) {
    tensor.fits_words = fits_words(integers.data() + row * columns, columns);
  }
  fb::Layout* const layout = &tensor.layout;
  const auto encoded = [&](fb::Layout as) { return weight_codec(as).encode(integers.data(), rows, columns); };
  if (!constant.smallest) {
    const bool sparse =
        constant.sparse_above < 1 && zero_blocks(integers.data(), rows, columns) > constant.sparse_above;
    *layout = sparse ? fb::Layout::sparse_1x4 : fb::Layout::tile_k4n16;
    return encoded(*layout);
  }
  *layout = fb::Layout::tile_k4n16;
  std::vector<uint8_t> best = encoded(*layout);
  for (const fb::Layout other : compressed_layouts()) {
    if (tensor.scale_kind == fb::ScaleKind::fixed && other == fb::Layout::bitmask_k4n16) continue;
    std::vector<uint8_t> bytes = encoded(other);
    if (bytes.size() >= best.size()) continue;
    best = std::move(bytes);
    *layout = other;
  }
  return best;
}

/// Determines the integers of row n of a ternary matrix, and its scale.
void ternary_row(const Matrix& matrix, size_t n, const std::string& name, float* scale, int8_t* row) {
  const std::optional<float> found = ternary_scale(matrix.row(n), matrix.columns);
  if (!found) throw Error(ExitCode::kInternal, "matrix " + name + " is not ternary");
  *scale = *found;
  ternary_quantize(matrix.row(n), matrix.columns, *scale, row);
}

/// Stores int8 and ternary matrices.
void store_integers(DataSection& data, const Matrix& matrix, bool tiled, const Constant& constant,
                    fb::TensorT& tensor) {
  const bool ternary = tensor.type == fb::DType::ternary;
  const size_t padded_rows = in_memory(round_up(matrix.rows, 16));
  // If the fraction of zeros may change the layout, the whole matrix must be rounded first.
  const bool whole = tiled && !ternary && (constant.smallest || constant.sparse_above < 1);
  const size_t block = whole ? matrix.rows : std::min(matrix.rows, kRoundedRows);
  std::vector<int8_t> integers(in_memory(uint64_t{block} * matrix.columns));
  std::vector<float> scales(tiled ? padded_rows : matrix.rows, 0.0f);
  std::vector<int32_t> sums(padded_rows, 0);
  std::vector<float> reads(matrix.columns);
  tensor.scale_kind = tiled ? fb::ScaleKind::per_output : fb::ScaleKind::per_row;
  tensor.layout = ternary ? fb::Layout::tile_ternary_k16n16 : tiled ? fb::Layout::tile_k4n16 : fb::Layout::rows;
  tensor.fits_words = tiled && !ternary;
  tensor.data = data.begin();
  for (size_t first = 0; first < matrix.rows; first += block) {
    const size_t count = std::min(block, matrix.rows - first);
    for (size_t n = first; n < first + count; ++n) {
      int8_t* row = integers.data() + (n - first) * matrix.columns;
      if (ternary) {
        ternary_row(matrix, n, tensor.name, &scales[n], row);
      } else {
        round_row(matrix, constant, tiled, n, &scales[n], row);
      }
      for (size_t k = 0; k < matrix.columns; ++k) {
        reads[k] = static_cast<float>(row[k]) * scales[n];
        sums[n] += row[k];
      }
      note_error(matrix, constant, n, reads, tensor);
    }
    if (!tiled) {
      data.append(tensor.data.get(), integers.data(), count * matrix.columns);
    } else {
      const std::vector<uint8_t> bytes =
          ternary ? weight_codec(tensor.layout).encode(integers.data(), count, matrix.columns)
                  : linear_bytes(integers, count, matrix.columns, constant, tensor);
      data.append(tensor.data.get(), bytes.data(), bytes.size());
    }
  }
  tensor.scales = store(data, scales);
  if (tiled) tensor.sums = store(data, sums);
}

/// Determines the integers of row n, and returns their scales.
Int4Scales round_int4_row(const Matrix& matrix, const Constant& constant, size_t n, size_t group, int8_t* row) {
  Int4Scales scales;
  if (constant.rounded != nullptr) {
    const size_t groups = (matrix.columns + group - 1) / group;
    round_row(matrix, constant, true, n, &scales.scale, row);
    const auto first = constant.rounded->factors.begin() + static_cast<ptrdiff_t>(n * groups);
    scales.factors.assign(first, first + static_cast<ptrdiff_t>(groups));
    return scales;
  }
  const std::vector<float> values = scaled_row(matrix, constant, n);
  scales = int4_scales(values.data(), matrix.columns, group);
  int4_quantize(values.data(), matrix.columns, group, scales, row);
  return scales;
}

void store_int4(DataSection& data, const Matrix& matrix, const Constant& constant, fb::TensorT& tensor) {
  const size_t group = tensor.group;
  const size_t groups = (matrix.columns + group - 1) / group;
  const size_t padded_rows = in_memory(round_up(matrix.rows, 16));
  std::vector<int8_t> integers(in_memory(uint64_t{matrix.rows} * matrix.columns));
  std::vector<uint8_t> scales(in_memory(uint64_t{padded_rows} * (sizeof(float) + groups)), 0);
  std::fill(scales.begin() + static_cast<ptrdiff_t>(padded_rows * sizeof(float)), scales.end(), uint8_t{1});
  std::vector<int32_t> sums(padded_rows, 0);
  std::vector<float> reads(matrix.columns);
  for (size_t n = 0; n < matrix.rows; ++n) {
    int8_t* row = integers.data() + n * matrix.columns;
    const Int4Scales found = round_int4_row(matrix, constant, n, group, row);
    std::memcpy(scales.data() + n * sizeof(float), &found.scale, sizeof(float));
    uint8_t* factors = scales.data() + padded_rows * sizeof(float) + n / 16 * groups * 16 + n % 16;
    for (size_t g = 0; g < groups; ++g) factors[g * 16] = found.factors[g];
    for (size_t k = 0; k < matrix.columns; ++k) {
      const int weight = row[k] * found.factors[k / group];
      reads[k] = static_cast<float>(weight) * found.scale;
      sums[n] += weight;
    }
    note_error(matrix, constant, n, reads, tensor);
  }
  tensor.layout = fb::Layout::tile_i4_k8n16;
  tensor.scale_kind = fb::ScaleKind::per_group;
  tensor.data = store(data, weight_codec(tensor.layout).encode(integers.data(), matrix.rows, matrix.columns));
  tensor.scales = store(data, scales);
  tensor.sums = store(data, sums);
}

/// T: float or uint16_t (f16), converted by `encode` from the source's f32.
template <typename T, typename Encode>
void store_float(DataSection& data, const Matrix& matrix, bool tiled, fb::TensorT& tensor, const Encode& encode) {
  constexpr size_t kTile = 16;
  const size_t block = tiled ? kTile : 1;
  std::vector<T> stored(in_memory(uint64_t{block} * matrix.columns, sizeof(T)));
  tensor.layout = tiled ? fb::Layout::tile_n16 : fb::Layout::rows;
  tensor.data = data.begin();
  if (data.only_counts() && tensor.type == fb::DType::f32) {  // the size does not depend on the values
    const size_t bytes = in_memory(round_up(matrix.rows, block) * matrix.columns, sizeof(T)) * sizeof(T);
    data.append(tensor.data.get(), nullptr, bytes);
    return;
  }
  for (size_t first = 0; first < matrix.rows; first += block) {
    std::fill(stored.begin(), stored.end(), T{0});
    for (size_t n = 0; n < std::min(block, matrix.rows - first); ++n) {
      const float* row = matrix.row(first + n);
      for (size_t k = 0; k < matrix.columns; ++k) {
        stored[tiled ? place_in_tile_n16(n, k, matrix.columns) : k] = encode(row[k]);
      }
    }
    data.append(tensor.data.get(), stored.data(), stored.size() * sizeof(T));
  }
}

void store_half(DataSection& data, const Matrix& matrix, bool tiled, fb::TensorT& tensor) {
  store_float<uint16_t>(data, matrix, tiled, tensor, [&tensor](float value) {
    const uint16_t half = half_from_float(value);
    tensor.error = std::max(tensor.error, std::fabs(float_from_f16(half) - value));
    return half;
  });
}

void store_vector(DataSection& data, const Constant& constant, fb::TensorT& tensor) {
  std::vector<float> padded(in_memory(round_up(constant.values.size(), 16), sizeof(float)), 0.0f);
  std::copy(constant.values.begin(), constant.values.end(), padded.begin());
  tensor.layout = fb::Layout::rows;
  tensor.data = store(data, padded);
}

/// Stores integers unchanged: vectors padded with zeros to a multiple of 16, or rows.
template <typename T>
void store_numbers(DataSection& data, const std::vector<int32_t>& numbers, fb::TensorT& tensor) {
  const bool matrix = tensor.shape.size() == 2;
  const uint64_t count = matrix ? uint64_t{rows(tensor)} * width(tensor) : width(tensor);
  if (numbers.size() < count) throw Error(ExitCode::kInternal, tensor.name + " has fewer numbers than its shape");
  std::vector<T> stored(in_memory(matrix ? count : round_up(count, 16), sizeof(T)), T{0});
  std::transform(numbers.begin(), numbers.begin() + static_cast<ptrdiff_t>(count), stored.begin(),
                 [](int32_t number) { return static_cast<T>(number); });
  tensor.layout = fb::Layout::rows;
  tensor.data = store(data, stored);
}

/// Stores the integers of a linear weight unchanged, with their sums.
void store_static_weights(DataSection& data, const Constant& constant, fb::TensorT& tensor) {
  const std::vector<int32_t>& numbers = constant.numbers;
  const size_t n = in_memory(rows(tensor));
  const size_t k = in_memory(width(tensor));
  if (numbers.size() < uint64_t{n} * k)
    throw Error(ExitCode::kInternal, tensor.name + " has fewer numbers than its shape");
  std::vector<int8_t> integers(n * k);
  std::vector<int32_t> sums(in_memory(round_up(n, 16)), 0);
  for (size_t i = 0; i < n * k; ++i) {
    integers[i] = static_cast<int8_t>(numbers[i]);
    sums[i / k] += numbers[i];
  }
  tensor.fits_words = true;
  tensor.data = store(data, linear_bytes(integers, n, k, constant, tensor));
  tensor.sums = store(data, sums);
}

void store_constant(DataSection& data, const Constant& constant, bool tiled, fb::TensorT& tensor) {
  if (!constant.numbers.empty()) {
    if (tiled) return store_static_weights(data, constant, tensor);
    if (tensor.type == fb::DType::i8) return store_numbers<int8_t>(data, constant.numbers, tensor);
    if (tensor.type == fb::DType::i16) return store_numbers<int16_t>(data, constant.numbers, tensor);
    return store_numbers<int32_t>(data, constant.numbers, tensor);
  }
  if (tensor.shape.size() < 2) {
    if (constant.values.size() != width(tensor)) {
      throw Error(ExitCode::kInternal, "vector " + tensor.name + " has another number of values than its shape");
    }
    store_vector(data, constant, tensor);
    return;
  }
  const size_t columns = in_memory(width(tensor));
  ConstantRows source(constant, columns);
  const Matrix matrix{in_memory(rows(tensor)), columns, source};
  // A table may have been shortened (fewer positions), but not extended.
  if (source.size() < matrix.rows) {
    throw Error(ExitCode::kInternal, "matrix " + tensor.name + " has fewer values than its shape");
  }
  switch (tensor.type) {
    case fb::DType::i8:
      store_integers(data, matrix, tiled, constant, tensor);
      return;
    case fb::DType::i4:
      if (!tiled) throw Error(ExitCode::kInternal, "matrix " + tensor.name + " is not a linear weight, and int4");
      store_int4(data, matrix, constant, tensor);
      return;
    case fb::DType::ternary:
      if (!tiled) throw Error(ExitCode::kInternal, "matrix " + tensor.name + " is not a linear weight, and ternary");
      store_integers(data, matrix, tiled, constant, tensor);
      return;
    case fb::DType::f16:
      store_half(data, matrix, tiled, tensor);
      return;
    case fb::DType::f32:
      store_float<float>(data, matrix, tiled, tensor, [](float value) { return value; });
      return;
    default:
      throw Error(ExitCode::kInternal, "matrix " + tensor.name + " has a type without a layout");
  }
}

/// Returns an upper bound of the bytes of the constants, including scales: slightly more than the exact number, and
/// considerably more for matrices stored without zeros.
uint64_t most_bytes(const Graph& graph) {
  uint64_t bytes = 0;
  for (size_t t = 0; t < graph.constants.size(); ++t) {
    if (graph.constants[t] == nullptr) continue;
    const fb::TensorT& tensor = *graph.model.tensors[t];
    const uint64_t matrix = round_up(rows(tensor), 16) * round_up(width(tensor), 16);
    const uint64_t each = tensor.type == fb::DType::f16 ? 2 : is_integer(tensor.type) ? 1 : sizeof(float);
    bytes += matrix * each + round_up(rows(tensor), 16) * 2 * sizeof(float) + 4 * kFileAlignment;
  }
  for (const RawBlob& blob : graph.blobs) bytes += blob.bytes.size() + kFileAlignment;
  return bytes;
}

}  // namespace

DataSection lay_out(Graph& graph, DataSection::In in, uint64_t front) {
  const size_t count = graph.model.tensors.size();
  std::vector<bool> tiled(count, false);
  std::vector<int32_t> order;
  std::vector<bool> seen(count, false);
  for (const auto& op : main_subgraph(graph).ops) {
    for (const int32_t matrix : multiplied_by(*op)) tiled[static_cast<size_t>(matrix)] = true;
    for_each_read(*op, [&](int32_t t) {
      if (!is_constant(graph, t) || seen[static_cast<size_t>(t)]) return;
      seen[static_cast<size_t>(t)] = true;
      order.push_back(t);
    });
  }
  DataSection data(in);
  data.reserve(most_bytes(graph), front);
  for (const int32_t t : order) {
    const auto at = static_cast<size_t>(t);
    store_constant(data, *graph.constants[at], tiled[at], *graph.model.tensors[at]);
  }
  for (RawBlob& blob : graph.blobs) *blob.target = data.add(blob.bytes.data(), blob.bytes.size());
  return data;
}

}  // namespace bantam::convert
