// Random calls of the integer-only kernels, and what the formulas of `Integer` in schemas/bantam.fbs give in 64 bits.
#ifndef BANTAM_TESTS_KERNELS_STATIC_CASES_H_
#define BANTAM_TESTS_KERNELS_STATIC_CASES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/kernels/linear_cases.h"
#include "tests/kernels/row_cases.h"

namespace bantam::kernels::test {

inline int64_t naive_rs(int64_t v, uint32_t shift) {
  if (shift == 0) return v;
  const int64_t unit = int64_t{1} << shift;
  const int64_t up = v + unit / 2;
  return up >= 0 ? up / unit : -((-up + unit - 1) / unit);  // floor
}
inline int64_t naive_clamp(int64_t v, int64_t low, int64_t high) { return std::min(high, std::max(low, v)); }
inline int64_t naive_sat16(int64_t v) { return naive_clamp(v, -32768, 32767); }
inline int64_t naive_sat8(int64_t v) { return naive_clamp(v, -127, 127); }

/// Numbers in [low, high], padded to 16 with zeros.
template <class T>
Guarded make_numbers(Random& random, uint32_t n, int32_t low, int32_t high) {
  Guarded v(size_t{pad16(n)} * sizeof(T));
  for (uint32_t i = 0; i < pad16(n); ++i) {
    const int64_t number = low + static_cast<int64_t>(random.next() % static_cast<uint64_t>(int64_t{high} - low + 1));
    v.as<T>()[i] = i < n ? static_cast<T>(number) : T{0};
  }
  return v;
}

/// i8 rows in their true signs.
inline Guarded make_i8_rows(Random& random, uint32_t rows, uint32_t width, size_t stride) {
  Guarded x = make_rows<int8_t>(rows, stride, pad16(width));
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t i = 0; i < width; ++i) x.as<int8_t>()[r * stride + i] = random.weight();
  }
  return x;
}
/// The same as a session with this table stores them.
inline Guarded stored_rows(const Guarded& x, const Table& table) {
  Guarded y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y.data()[i] = static_cast<uint8_t>(x.data()[i] ^ table.offset_xor);
  return y;
}

template <>
class Case<StaticLinear> {
 public:
  using Shape = LinearShape;
  enum class Kind { kI8, kTable, kI16, kF32 };

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const LinearShape* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : LinearShape::random(random);
    shape_.k = pad4(shape_.k);
    const uint32_t n = shape_.n;
    const uint32_t k = shape_.k;
    const uint32_t stored_k = shape_.k16 ? pad16(k) : k;
    kind_ = wanted != nullptr ? Kind::kI8 : static_cast<Kind>(random.between(0, 3));
    x_stride_ = pad16(k) + (random.chance(30) ? 16 : 0);
    y_stride_ = pad16(n) + (random.chance(30) ? 16 : 0);
    x_ = make_i8_rows(random, shape_.rows, stored_k, x_stride_);
    w_ = Guarded(size_t{n} * stored_k);
    sums_ = Guarded(size_t{n} * 4);
    for (uint32_t o = 0; o < n; ++o) {
      int32_t sum = 0;
      for (uint32_t i = 0; i < stored_k; ++i) {
        const int8_t v = i >= k           ? int8_t{0}
                         : shape_.extreme ? (o % 2 == 0 ? int8_t{-127} : int8_t{127})
                                          : random.weight();
        w_.as<int8_t>()[at(o, i)] = v;
        sum += v;
      }
      sums_.as<int32_t>()[o] = sum;
    }
    bias_ = make_numbers<int32_t>(random, n, -3000000, 3000000);
    multiplier_ = make_numbers<int16_t>(random, n, -32768, 32767);
    table_ = make_numbers<int8_t>(random, 256, -127, 127);
    scale_ = make_vector(random, n, 0.01f, 0.02f);
    pre_shift_ = random.between(0, 9);
    post_shift_ = kind_ == Kind::kI16 ? random.between(10, 16) : random.between(15, 25);
  }

  StaticLinear args(const Table& table) {
    stored_ = stored_rows(x_, table);
    const size_t element = kind_ == Kind::kF32 ? 4 : kind_ == Kind::kI16 ? 2 : 1;
    y_ = Guarded(((shape_.rows - 1) * y_stride_ + shape_.n) * element);
    StaticLinear a = {};
    a.x = stored_.as<int8_t>();
    a.x_stride = x_stride_;
    a.rows = shape_.rows;
    a.w = w_.as<int8_t>();
    a.w_sum = sums_.as<int32_t>();
    a.k = shape_.k;
    a.n = shape_.n;
    a.requantise = {shape_.bias ? bias_.as<int32_t>() : nullptr, multiplier_.as<int16_t>(), pre_shift_, post_shift_};
    a.table = kind_ == Kind::kTable ? table_.as<int8_t>() : nullptr;
    a.y8 = element == 1 ? y_.as<int8_t>() : nullptr;
    a.y16 = kind_ == Kind::kI16 ? y_.as<int16_t>() : nullptr;
    a.y_f32 = kind_ == Kind::kF32 ? y_.as<float>() : nullptr;
    a.scale = scale_.as<float>();
    a.y_stride = y_stride_;
    a.k16 = shape_.k16;
    return a;
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.static_linear(args(table));
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      if (kind_ == Kind::kF32) result.add(y_.as<float>() + r * y_stride_, shape_.n * 4);
      if (kind_ == Kind::kI16) result.add(y_.as<int16_t>() + r * y_stride_, shape_.n * 2);
      if (kind_ == Kind::kI8 || kind_ == Kind::kTable) {
        result.add_q8(y_.data() + r * y_stride_, shape_.n, table.offset_xor);
      }
    }
    return result;
  }

  void check(const Result& result) const {
    ASSERT_TRUE(result.finite);
    const uint8_t* got = result.bytes.data();
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      for (uint32_t o = 0; o < shape_.n; ++o) {
        int64_t sum = shape_.bias ? bias_.as<int32_t>()[o] : 0;
        for (uint32_t i = 0; i < shape_.k; ++i) {
          sum += int64_t{x_.as<int8_t>()[r * x_stride_ + i]} * w_.as<int8_t>()[at(o, i)];
        }
        if (kind_ == Kind::kF32) {
          float value;
          std::memcpy(&value, got, 4);
          ASSERT_EQ(value, static_cast<float>(sum) * scale_.as<float>()[o]);
          got += 4;
          continue;
        }
        const int64_t v = naive_rs(naive_sat16(naive_rs(sum, pre_shift_)) * multiplier_.as<int16_t>()[o], post_shift_);
        if (kind_ == Kind::kI16) {
          int16_t value;
          std::memcpy(&value, got, 2);
          ASSERT_EQ(value, naive_sat16(v));
          got += 2;
        } else {
          const int64_t expected =
              kind_ == Kind::kI8 ? naive_sat8(v) : table_.as<int8_t>()[naive_clamp(v, -128, 127) + 128];
          ASSERT_EQ(static_cast<int8_t>(*got++), expected);
        }
      }
    }
  }

 private:
  size_t at(uint32_t o, uint32_t i) const {
    if (shape_.k16) return size_t{o} * pad16(shape_.k) + i;
    return ((size_t{o / 16} * (shape_.k / 4) + i / 4) * 16 + o % 16) * 4 + i % 4;
  }

  LinearShape shape_{};
  Kind kind_ = Kind::kI8;
  size_t x_stride_ = 0;
  size_t y_stride_ = 0;
  uint32_t pre_shift_ = 0;
  uint32_t post_shift_ = 0;
  Guarded x_, stored_, w_, sums_, bias_, multiplier_, table_, scale_, y_;
};

template <>
class Case<StaticNorm> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : RowShape::random(random);
    stride_ = some_stride(random, shape_.width);
    residual_ = wanted != nullptr || random.chance(60);
    const int32_t most = random.chance(20) ? 32767 : random.chance(20) ? 3 : 4000;
    h_ = make_numbers<int16_t>(random, static_cast<uint32_t>(shape_.rows * stride_), random.chance(10) ? most : -most,
                               most);
    x_ = make_i8_rows(random, shape_.rows, shape_.width, stride_);
    residual_multiplier_ = make_numbers<int16_t>(random, shape_.width, -32768, 32767);
    gamma_ = make_numbers<int16_t>(random, shape_.width, -32768, 32767);
    beta_ = make_numbers<int32_t>(random, shape_.width, -(1 << 28), 1 << 28);
    residual_shift_ = random.between(7, 16);
    shift_ = random.between(18, 24);
    epsilon_ = random.chance(50) ? 1 : random.between(1, 100000);
  }

  StaticNorm args(const Table& table) {
    stored_ = stored_rows(x_, table);
    changed_ = Guarded(h_.size());
    std::memcpy(changed_.data(), h_.data(), h_.size());
    StaticNorm a = {};
    a.h = changed_.as<int16_t>();
    a.h_stride = stride_;
    a.rows = shape_.rows;
    a.width = shape_.width;
    // In place, as sessions do.
    a.residual = residual_ ? stored_.as<int8_t>() : nullptr;
    a.residual_stride = stride_;
    a.residual_multiplier = residual_multiplier_.as<int16_t>();
    a.residual_shift = residual_shift_;
    a.gamma = gamma_.as<int16_t>();
    a.beta = beta_.as<int32_t>();
    a.shift = shift_;
    a.epsilon = epsilon_;
    a.y = stored_.as<int8_t>();
    a.y_stride = stride_;
    return a;
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.static_norm(args(table));
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      result.add_q8(stored_.data() + r * stride_, pad16(shape_.width), table.offset_xor);
    }
    return result;
  }

  void check(const Result& result) const {
    const uint32_t n = shape_.width;
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      std::vector<int64_t> h(n);
      int64_t total = 0;
      for (uint32_t i = 0; i < n; ++i) {
        h[i] = h_.as<int16_t>()[r * stride_ + i];
        if (residual_) {
          const int64_t product = int64_t{x_.as<int8_t>()[r * stride_ + i]} * residual_multiplier_.as<int16_t>()[i];
          h[i] = naive_sat16(h[i] + naive_rs(product, residual_shift_));
        }
        total += h[i];
      }
      const int64_t mean = total >= 0 ? (total + n / 2) / n : -((-total + n / 2) / n);
      double squares = static_cast<double>(epsilon_);
      for (const int64_t v : h) squares += static_cast<double>((v - mean) * (v - mean));
      // The formula's own rounding: r has 16 bits, the factor 14.
      for (uint32_t i = 0; i < n; ++i) {
        const double z = std::min(32767.0, static_cast<double>(h[i] - mean) / std::sqrt(squares) * 32768);
        const double v =
            (z * gamma_.as<int16_t>()[i] + beta_.as<int32_t>()[i]) / std::ldexp(1.0, static_cast<int>(shift_));
        const double expected = std::min(127.0, std::max(-127.0, v));
        const double slack = 0.5001 + (std::fabs(z) * 2e-4 + 1.5) *
                                          std::fabs(static_cast<double>(gamma_.as<int16_t>()[i])) /
                                          std::ldexp(1.0, static_cast<int>(shift_));
        ASSERT_NEAR(static_cast<int8_t>(result.bytes[r * pad16(n) + i]), expected, slack);
      }
      for (uint32_t i = n; i < pad16(n); ++i) ASSERT_EQ(result.bytes[r * pad16(n) + i], 0);
    }
  }

 private:
  RowShape shape_{};
  size_t stride_ = 0;
  bool residual_ = false;
  uint32_t residual_shift_ = 0;
  uint32_t shift_ = 0;
  uint64_t epsilon_ = 1;
  Guarded h_, changed_, x_, stored_, residual_multiplier_, gamma_, beta_;
};

template <>
class Case<StaticEmbed> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : RowShape::random(random);
    stride_ = some_stride(random, shape_.width);
    const uint32_t tables = wanted != nullptr ? 3 : random.between(1, 4);
    for (uint32_t t = 0; t < tables; ++t) {
      Source source;
      source.rows = random.between(1, 40);
      source.wide = random.chance(40);
      source.shift = random.between(0, 15);
      const uint32_t count = source.rows * shape_.width;
      source.data = Guarded(size_t{count} * (source.wide ? 2 : 1));
      for (uint32_t i = 0; i < count; ++i) {
        if (source.wide) {
          source.data.as<int16_t>()[i] = static_cast<int16_t>(random.next());
        } else {
          source.data.as<int8_t>()[i] = random.weight();
        }
      }
      source.multiplier = make_numbers<int16_t>(random, source.rows, -32768, 32767);
      source.index = Guarded(size_t{shape_.rows} * 4);
      for (uint32_t r = 0; r < shape_.rows; ++r) {
        source.index.as<int32_t>()[r] = static_cast<int32_t>(random.between(0, source.rows - 1));
      }
      sources_.push_back(std::move(source));
    }
    for (Source& s : sources_) {
      calls_.push_back({s.data.data(), s.wide, s.multiplier.as<int16_t>(), s.shift, s.index.as<int32_t>()});
    }
  }

  StaticEmbed args(const Table&) {
    y_ = make_rows<int16_t>(shape_.rows, stride_, shape_.width);
    return {calls_.data(), static_cast<uint32_t>(calls_.size()), shape_.rows, shape_.width, y_.as<int16_t>(), stride_};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.static_embed(args(table));
    for (uint32_t r = 0; r < shape_.rows; ++r) result.add(y_.as<int16_t>() + r * stride_, size_t{shape_.width} * 2);
    return result;
  }

  void check(const Result& result) const {
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      for (uint32_t i = 0; i < shape_.width; ++i) {
        uint32_t total = 0;
        for (const Source& s : sources_) {
          const auto index = static_cast<size_t>(s.index.as<int32_t>()[r]);
          const size_t at = index * shape_.width + i;
          const int64_t element = s.wide ? int64_t{s.data.as<int16_t>()[at]} : int64_t{s.data.as<int8_t>()[at]};
          total += static_cast<uint32_t>(naive_rs(element * s.multiplier.as<int16_t>()[index], s.shift));
        }
        int16_t got;
        std::memcpy(&got, result.bytes.data() + (size_t{r} * shape_.width + i) * 2, 2);
        ASSERT_EQ(got, naive_sat16(static_cast<int32_t>(total)));
      }
    }
  }

 private:
  struct Source {
    uint32_t rows = 0;
    bool wide = false;
    uint32_t shift = 0;
    Guarded data, multiplier, index;
  };
  RowShape shape_{};
  size_t stride_ = 0;
  std::vector<Source> sources_;
  std::vector<StaticSource> calls_;
  Guarded y_;
};

/// Rows of heads and where they lie; tokens [first_row, first_row + rows) of a run.
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
        // Each weight is within 0.55 of 255 of its value; a query sees itself at least.
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

template <>
class Case<StaticPool> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : RowShape::random(random);
    begin_ = wanted != nullptr ? 0 : random.between(0, shape_.rows - 1);
    end_ = wanted != nullptr ? shape_.rows : random.between(begin_ + 1, shape_.rows);
    kind_ = wanted != nullptr ? Pool::kMean : static_cast<Pool>(random.between(0, 4));
    l2_ = random.chance(40);
    f32_ = kind_ == Pool::kMean || kind_ == Pool::kSum || l2_ || random.chance(50);
    stride_ = some_stride(random, shape_.width);
    x_ = make_i8_rows(random, shape_.rows, shape_.width, stride_);
    scale_ = make_vector(random, shape_.width, 0.01f, 0.05f);
  }

  StaticPool args(const Table& table) {
    stored_ = stored_rows(x_, table);
    y_ = Guarded(size_t{pad16(shape_.width)} * (f32_ ? 4 : 1));
    StaticPool a = {};
    a.x = stored_.as<int8_t>();
    a.x_stride = stride_;
    a.row_begin = begin_;
    a.row_end = end_;
    a.width = shape_.width;
    a.kind = kind_;
    a.l2 = l2_;
    a.y = f32_ ? nullptr : y_.as<int8_t>();
    a.y_f32 = f32_ ? y_.as<float>() : nullptr;
    a.scale = scale_.as<float>();
    return a;
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.static_pool(args(table));
    if (f32_) {
      result.add(y_.data(), size_t{shape_.width} * 4);
    } else {
      result.add_q8(y_.data(), pad16(shape_.width), table.offset_xor);
    }
    return result;
  }

  void check(const Result& result) const {
    std::vector<double> expected(shape_.width);
    double squares = 0;
    for (uint32_t i = 0; i < shape_.width; ++i) {
      double v = x_.as<int8_t>()[(kind_ == Pool::kLast ? end_ - 1 : begin_) * stride_ + i];
      for (uint32_t r = begin_ + 1; r < end_ && kind_ != Pool::kFirst && kind_ != Pool::kLast; ++r) {
        const double next = x_.as<int8_t>()[r * stride_ + i];
        v = kind_ == Pool::kMax ? std::max(v, next) : v + next;
      }
      if (f32_) v *= double{scale_.as<float>()[i]};
      if (kind_ == Pool::kMean) v /= end_ - begin_;
      expected[i] = v;
      squares += v * v;
    }
    for (uint32_t i = 0; i < shape_.width; ++i) {
      if (!f32_) {
        ASSERT_EQ(static_cast<int8_t>(result.bytes[i]), expected[i]);
        continue;
      }
      float got;
      std::memcpy(&got, result.bytes.data() + i * 4, 4);
      const double v = l2_ ? expected[i] / std::max(std::sqrt(squares), 1e-12) : expected[i];
      ASSERT_NEAR(double{got}, v, 1e-4 * (1 + std::fabs(v)));
    }
  }

 private:
  RowShape shape_{};
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  Pool kind_ = Pool::kFirst;
  bool l2_ = false;
  bool f32_ = false;
  size_t stride_ = 0;
  Guarded x_, stored_, scale_, y_;
};

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_STATIC_CASES_H_
