// Random calls of the static kernels for heads and attention, like those of static_linear_cases.h.
#ifndef BANTAM_TESTS_KERNELS_STATIC_ATTENTION_CASES_H_
#define BANTAM_TESTS_KERNELS_STATIC_ATTENTION_CASES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/kernels/static_numbers.h"

namespace bantam::kernels::test {

/// Rows of heads and their positions: tokens [first_row, first_row + rows) of a run.
struct StaticHeads {
  uint32_t first_row, rows, heads, kv_heads, head_width;

  static StaticHeads random(Random& random) {
    const uint32_t kv_heads = random.between(1, 3);
    return {random.chance(50) ? 0 : random.between(1, 40),
            random.chance(80) ? random.between(1, 40) : random.between(1, 150),
            random.chance(20) ? 0 : kv_heads * random.between(1, 2), kv_heads, random.between(1, 70)};
  }
  static StaticHeads typical(uint32_t rows) { return {0, rows, 12, 12, 32}; }
  uint32_t pages() const { return (first_row + rows + 15) / 16; }
  uint32_t width() const { return (heads + 2 * kv_heads) * head_width; }
};

template <>
class Case<StaticSplit> {
 public:
  using Shape = StaticHeads;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const StaticHeads* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : StaticHeads::random(random);
    if (wanted == nullptr && random.chance(60)) {
      // Whole pages, groups of four rows and tiles of heads have their own code paths.
      shape_.head_width = random.chance(50) ? pad16(shape_.head_width) : pad4(shape_.head_width);
      shape_.first_row = random.chance(50) ? pad16(shape_.first_row) : pad4(shape_.first_row);
    }
    stride_ = some_stride(random, shape_.width());
    x_ = make_i8_rows(random, shape_.rows, shape_.width(), stride_);
  }
  Case(uint64_t seed, const StaticHeads& shape) : Case(seed, &shape) {}

  StaticSplit args(const Table& table) {
    stored_ = stored_rows(x_, table);
    const uint32_t end = shape_.first_row + shape_.rows;
    q_stride_ = pad16(std::max<uint32_t>(1u, shape_.heads * shape_.head_width));
    q = Guarded(shape_.heads == 0 ? 0 : size_t{end} * q_stride_);
    keys = Guarded(size_t{shape_.pages()} * shape_.kv_heads * static_key_page_bytes(shape_.head_width));
    values = Guarded(size_t{shape_.pages()} * shape_.kv_heads * static_value_page_bytes(shape_.head_width));
    return {stored_.as<int8_t>(),
            stride_,
            shape_.first_row,
            shape_.rows,
            shape_.heads,
            shape_.kv_heads,
            shape_.head_width,
            q.as<int8_t>() + (shape_.heads == 0 ? 0 : shape_.first_row * q_stride_),
            q_stride_,
            keys.data(),
            values.data()};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.static_split(args(table));
    const uint32_t width = shape_.head_width;
    for (uint32_t row = shape_.first_row; row < shape_.first_row + shape_.rows; ++row) {
      if (shape_.heads != 0) {
        result.add_q8(q.data() + row * q_stride_, size_t{shape_.heads} * width, table.offset_xor);
      }
      for (uint32_t h = 0; h < shape_.kv_heads; ++h) {
        for (uint32_t i = 0; i < width; ++i) result.add_q8(key(row, h) + i / 4 * 64 + i % 4, 1, table.offset_xor);
        for (uint32_t i = width; i < pad4(width); ++i) EXPECT_EQ(key(row, h)[i / 4 * 64 + i % 4], table.offset_xor);
      }
      for (uint32_t h = 0; h < shape_.kv_heads; ++h) {
        for (uint32_t i = 0; i < width; ++i) result.add(value(row, h) + i / 16 * 256 + i % 16 * 4, 1);
        for (uint32_t i = width; i < pad16(width); ++i) EXPECT_EQ(value(row, h)[i / 16 * 256 + i % 16 * 4], 0);
      }
    }
    for (uint32_t row = 0; row < shape_.pages() * 16; ++row) {
      if (row >= shape_.first_row && row < shape_.first_row + shape_.rows) continue;
      for (uint32_t h = 0; h < shape_.kv_heads; ++h) {
        for (uint32_t i = 0; i < pad4(width); ++i) EXPECT_EQ(key(row, h)[i / 4 * 64 + i % 4], Guarded::kFill);
        for (uint32_t i = 0; i < pad16(width); ++i) EXPECT_EQ(value(row, h)[i / 16 * 256 + i % 16 * 4], Guarded::kFill);
      }
    }
    return result;
  }

  void check(const Result& result) const {
    const uint8_t* got = result.bytes.data();
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      for (uint32_t i = 0; i < shape_.width(); ++i) ASSERT_EQ(*got++, x_.data()[r * stride_ + i]);
    }
  }

  int8_t at(uint32_t r, uint32_t column) const { return x_.as<int8_t>()[r * stride_ + column]; }
  size_t q_stride() const { return q_stride_; }
  Guarded q, keys, values;

 private:
  const uint8_t* key(uint32_t row, uint32_t h) const {
    return keys.data() + (size_t{row / 16} * shape_.kv_heads + h) * static_key_page_bytes(shape_.head_width) +
           row % 16 * 4;
  }
  const uint8_t* value(uint32_t row, uint32_t h) const {
    const size_t lane = row % 16;
    return values.data() + (size_t{row / 16} * shape_.kv_heads + h) * static_value_page_bytes(shape_.head_width) +
           lane / 4 * 64 + lane % 4;
  }

  StaticHeads shape_{};
  size_t stride_ = 0;
  size_t q_stride_ = 0;
  Guarded x_, stored_;
};

template <>
class Case<StaticAttention> {
 public:
  using Shape = StaticHeads;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const StaticHeads* wanted) : shape_(make_shape(seed, wanted)), split_(seed, shape_) {
    Random random(seed + 77);
    head_ = wanted != nullptr ? 0 : random.between(0, shape_.heads - 1);
    multiplier_ = random.chance(10) ? 0 : random.chance(10) ? 0x7fffffffu : random.between(1, 200000);
    if (wanted != nullptr) return;
    mask_ = static_cast<Mask>(random.chance(50) ? 0 : random.between(1, 3));
    window_ = random.between(0, 20);
  }

  StaticAttention args(const Table& table) {
    table.static_split(split_.args(table));
    const uint32_t width = shape_.head_width;
    const uint32_t kv_head = head_ / (shape_.heads / shape_.kv_heads);
    stride_ = pad16(width);
    y_ = make_rows<int8_t>(shape_.rows, stride_, width);
    const uint32_t pages = attention_pages(shape_.first_row, shape_.first_row + shape_.rows);
    scratch_ = Guarded(pad16(static_cast<uint32_t>(static_attention_scratch_bytes(pages, shape_.rows, width))));
    StaticAttention a = {};
    a.q = split_.q.as<int8_t>() + shape_.first_row * split_.q_stride() + size_t{head_} * width;
    a.q_stride = split_.q_stride();
    a.query_begin = shape_.first_row;
    a.queries = shape_.rows;
    a.key_pages = split_.keys.data() + kv_head * static_key_page_bytes(width);
    a.key_page_stride = shape_.kv_heads * static_key_page_bytes(width);
    a.value_pages = split_.values.data() + kv_head * static_value_page_bytes(width);
    a.value_page_stride = shape_.kv_heads * static_value_page_bytes(width);
    a.kv_begin = shape_.first_row;
    a.kv_end = shape_.first_row + shape_.rows;
    a.head_width = width;
    a.multiplier = multiplier_;
    a.mask = mask_;
    a.window = window_;
    a.y = y_.as<int8_t>();
    a.y_stride = stride_;
    a.scratch = scratch_.data();
    return a;
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.static_attention(args(table));
    for (uint32_t r = 0; r < shape_.rows; ++r)
      result.add_q8(y_.data() + r * stride_, shape_.head_width, table.offset_xor);
    return result;
  }

  void check(const Result& result) const {
    const uint32_t width = shape_.head_width;
    const uint32_t kv_head = head_ / (shape_.heads / shape_.kv_heads);
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      std::vector<int64_t> scores(shape_.rows);
      int64_t best = INT64_MIN;
      for (uint32_t j = 0; j < shape_.rows; ++j) {
        for (uint32_t i = 0; i < width; ++i) {
          scores[j] += int64_t{split_.at(r, head_ * width + i)} * split_.at(j, (shape_.heads + kv_head) * width + i);
        }
        if (sees(r, j)) best = std::max(best, scores[j]);
      }
      std::vector<double> weights(shape_.rows, 0.0);
      double total = 0;
      for (uint32_t j = 0; j < shape_.rows; ++j) {
        if (!sees(r, j)) continue;
        const double u = std::min(31.9, static_cast<double>(best - scores[j]) * multiplier_ / 67108864.0);
        weights[j] = std::pow(2.0, -u) * 255;
        total += weights[j];
      }
      for (uint32_t i = 0; i < width; ++i) {
        double sum = 0;
        for (uint32_t j = 0; j < shape_.rows; ++j) {
          sum += weights[j] * split_.at(j, (shape_.heads + shape_.kv_heads + kv_head) * width + i);
        }
        // Each weight is within 0.55 of 255 times its value; a query sees at least itself.
        const double slack = 0.6 + 0.55 * 2 * 127 * shape_.rows / std::max(total, 255.0);
        const double expected = total > 0 ? sum / total : 0;
        ASSERT_NEAR(static_cast<int8_t>(result.bytes[size_t{r} * width + i]), expected, slack);
      }
    }
  }

 private:
  static StaticHeads make_shape(uint64_t seed, const StaticHeads* wanted) {
    if (wanted != nullptr) return *wanted;
    Random random(seed + 7);
    StaticHeads shape = StaticHeads::random(random);
    shape.heads = std::max(shape.heads, shape.kv_heads);
    return shape;
  }
  bool sees(uint32_t query, uint32_t key) const {
    const bool causal = mask_ == Mask::kCausal || mask_ == Mask::kCausalWindow;
    const bool window = mask_ == Mask::kWindow || mask_ == Mask::kCausalWindow;
    const uint32_t apart = query > key ? query - key : key - query;
    return !(causal && key > query) && !(window && apart > window_);
  }

  StaticHeads shape_;
  Case<StaticSplit> split_;
  uint32_t head_ = 0;
  uint32_t multiplier_ = 0;
  Mask mask_ = Mask::kNone;
  uint32_t window_ = 0;
  size_t stride_ = 0;
  Guarded y_, scratch_;
};

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_STATIC_ATTENTION_CASES_H_
