#include "format/sparse_1x4.h"

#include <algorithm>
#include <numeric>

#include "base/size.h"
#include "format/bytes.h"
#include "format/view.h"
#include "kernels/kernels.h"

namespace bantam::convert {
namespace {

/// Indices of the blocks of a row that are not all 0.
std::vector<uint16_t> blocks_of(const int8_t* row, size_t columns) {
  std::vector<uint16_t> blocks;
  for (size_t c = 0; c < columns; c += 4) {
    const int8_t* end = row + std::min(c + 4, columns);
    if (std::any_of(row + c, end, [](int8_t w) { return w != 0; })) blocks.push_back(static_cast<uint16_t>(c / 4));
  }
  return blocks;
}

template <typename T>
void append(std::vector<uint8_t>* bytes, const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const uint8_t*>(values.data());
  bytes->insert(bytes->end(), begin, begin + values.size() * sizeof(T));
}

}  // namespace

double zero_blocks(const int8_t* weights, size_t rows, size_t columns) {
  size_t kept = 0;
  for (size_t r = 0; r < rows; ++r) kept += blocks_of(weights + r * columns, columns).size();
  const size_t blocks = rows * ((columns + 3) / 4);
  return 1.0 - static_cast<double>(kept) / static_cast<double>(blocks);
}

std::vector<uint8_t> compress_1x4(const int8_t* weights, size_t rows, size_t columns) {
  const size_t padded = in_memory((uint64_t{rows} + 15) / 16 * 16);
  std::vector<std::vector<uint16_t>> blocks(padded);
  for (size_t r = 0; r < rows; ++r) blocks[r] = blocks_of(weights + r * columns, columns);
  std::vector<int8_t> stored;
  std::vector<uint16_t> index;
  std::vector<uint32_t> ends;
  std::vector<uint8_t> order;
  for (size_t first = 0; first < padded; first += kernels::kSparseSpan) {
    const size_t span = std::min<size_t>(kernels::kSparseSpan, padded - first);
    std::vector<uint8_t> sorted(span);
    std::iota(sorted.begin(), sorted.end(), uint8_t{0});
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](uint8_t a, uint8_t b) { return blocks[first + a].size() < blocks[first + b].size(); });
    for (size_t group = 0; group < span; group += 4) {
      const size_t steps = blocks[first + sorted[group + 3]].size();
      for (size_t step = 0; step < steps; ++step) {
        for (size_t j = group; j < group + 4; ++j) {
          const size_t row = first + sorted[j];
          const bool here = step < blocks[row].size();
          // An output without further blocks repeats its last block's index, whose inputs are in the cache.
          const uint16_t block = here ? blocks[row][step] : blocks[row].empty() ? uint16_t{0} : blocks[row].back();
          index.push_back(block);
          for (size_t c = size_t{block} * 4; c < size_t{block} * 4 + 4; ++c) {
            stored.push_back(here && c < columns ? weights[row * columns + c] : int8_t{0});
          }
        }
      }
      ends.push_back(static_cast<uint32_t>(index.size() / 4));
    }
    order.insert(order.end(), sorted.begin(), sorted.end());
  }
  std::vector<uint8_t> bytes;
  append(&bytes, stored);
  append(&bytes, index);
  append(&bytes, ends);
  append(&bytes, order);
  return bytes;
}

void visit_1x4(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink) {
  const uint32_t padded = kernels::pad16(extent(tensor, 0));
  const size_t steps = sparse_steps(tensor, padded);
  const uint8_t* index = data + steps * 16;
  const uint8_t* ends = index + steps * 8;
  const uint8_t* order = ends + padded;
  size_t step = 0;
  for (uint32_t group = 0; group < padded / 4; ++group) {
    const uint32_t span = group * 4 / kernels::kSparseSpan * kernels::kSparseSpan;
    for (const size_t end = load<uint32_t>(ends, group); step < end; ++step) {
      for (uint32_t j = 0; j < 4; ++j) {
        const size_t block = step * 4 + j;
        sink.block(span + order[group * 4 + j], load<uint16_t>(index, block) * 4u,
                   reinterpret_cast<const int8_t*>(data + block * 4));
      }
    }
  }
}

}  // namespace bantam::convert
