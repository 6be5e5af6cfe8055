// Random calls of the static kernels for embeddings, norms and pooling, like those of static_linear_cases.h.
#ifndef BANTAM_TESTS_KERNELS_STATIC_ROW_CASES_H_
#define BANTAM_TESTS_KERNELS_STATIC_ROW_CASES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/kernels/static_numbers.h"

namespace bantam::kernels::test {

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
    // In place, as in sessions.
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
      // The rounding of the formula itself: r has 16 bits, the factor 14.
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

#endif  // BANTAM_TESTS_KERNELS_STATIC_ROW_CASES_H_
