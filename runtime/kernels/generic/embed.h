// embed_rows: sums of table rows, from plain rows or from the tiles of a tied output layer.
#ifndef BANTAM_KERNELS_GENERIC_EMBED_H_
#define BANTAM_KERNELS_GENERIC_EMBED_H_

#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Elements [i, i + count) of row `index` of a table in linear tiles ([V/16][k][16], or [V/16][k/4][16][4] for i8),
/// gathered into buffer.
template <class T>
BANTAM_INLINE void gather_tiled(const T* tiles, size_t index, uint32_t width, uint32_t i, uint32_t count, T* buffer) {
  if constexpr (sizeof(T) == 1) {
    const T* tile = tiles + (index / 16) * (size_t{pad4(width)} * 16) + (index % 16) * 4;
    if constexpr (kLanes == 1) {
      *buffer = tile[size_t{i / 4} * 64 + i % 4];
    } else {
      for (uint32_t j = 0; j < count; j += 4) memcpy(buffer + j, tile + size_t{i + j} * 16, 4);
    }
  } else {
    const T* tile = tiles + (index / 16) * (size_t{width} * 16) + index % 16;
    for (uint32_t j = 0; j < count; ++j) buffer[j] = tile[size_t{i + j} * 16];
  }
}

/// Returns a vector of elements as floats; lanes beyond the row are undefined.
template <class T, class Lanes>
BANTAM_INLINE F32 table_vector(const EmbedSource& source, size_t index, uint32_t width, uint32_t i, Lanes lanes) {
  const T* table = static_cast<const T*>(source.data);
  T buffer[kLanes] = {};
  const T* p = buffer;
  if (source.tiled) {
    gather_tiled(table, index, width, i, lanes.count, buffer);
  } else if (lanes.count == kLanes) {
    p = table + index * source.stride + i;
  } else {
    memcpy(buffer, table + index * source.stride + i, lanes.count * sizeof(T));
  }
  if constexpr (sizeof(T) == 1) {
    return to_f32(load_i8(p));
  } else if constexpr (sizeof(T) == 2) {
    return load_f16(p);
  } else {
    return load(p);
  }
}

/// Rows of a large table may be anywhere in memory: they are prefetched this many rows in advance.
constexpr uint32_t kEmbedAhead = 4;
/// Not on one lane: rows are few there, and code size matters.
constexpr bool kPrefetchesRows = kLanes > 1;

template <class T>
BANTAM_INLINE void prefetch_row(const EmbedSource& source, size_t index, uint32_t width) {
  const char* row = static_cast<const char*>(source.data) + index * source.stride * sizeof(T);
  for (size_t i = 0; i < width * sizeof(T); i += 64) prefetch(row + i);
}

/// An absent row (index below 0) is computed as the first row times 0.
BANTAM_INLINE size_t row_of(int32_t index) { return index < 0 ? 0 : static_cast<size_t>(index); }

template <class T>
BANTAM_NOINLINE bool embed_source(const EmbedRows& a, const EmbedSource& source, bool first) {
  I32 worst = splat(int32_t{0});
  for (uint32_t r = 0; r < a.rows; ++r) {
    const size_t index = row_of(source.index[r]);
    if (kPrefetchesRows && !source.tiled && r + kEmbedAhead < a.rows) {
      prefetch_row<T>(source, row_of(source.index[r + kEmbedAhead]), a.width);
    }
    const float factor = sizeof(T) == 1 ? source.scales[index] * source.scale : source.scale;
    const F32 scale = splat(source.index[r] < 0 ? 0.0f : factor);
    float* y = a.y + r * a.y_stride;
    for_vectors(
        a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
          F32 v = table_vector<T>(source, index, a.width, i, lanes) * scale;
          if (!first) v = load(y + i) + v;
          worst = max(worst, magnitude_bits(lanes.keep_row(v)));
          store(y + i, v);
        });
  }
  return largest(worst) < kInfinityBits;
}

inline bool embed_rows(const EmbedRows& a) {
  bool finite = true;
  for (uint32_t s = 0; s < a.source_count; ++s) {
    const EmbedSource& source = a.sources[s];
    if (source.type == Element::kI8) {
      finite &= embed_source<int8_t>(a, source, s == 0);
    } else if (linked::kHalf && linked::kFloatTables && source.type == Element::kF16) {
      finite &= embed_source<uint16_t>(a, source, s == 0);
    } else if constexpr (linked::kFloatTables) {
      finite &= embed_source<float>(a, source, s == 0);
    }
  }
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_EMBED_H_
