// Random calls of the static linear layer, compared with the formulas of `Integer` in schemas/bantam.fbs in 64 bits.
#ifndef BANTAM_TESTS_KERNELS_STATIC_LINEAR_CASES_H_
#define BANTAM_TESTS_KERNELS_STATIC_LINEAR_CASES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/kernels/static_numbers.h"

namespace bantam::kernels::test {

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
    const auto kind = static_cast<Kind>(random.between(0, 3));
    kind_ = wanted == nullptr ? kind : wanted->activation == Activation::kNone ? Kind::kI8 : Kind::kTable;
    x_stride_ = pad16(k) + (random.chance(30) ? 16 : 0);
    y_stride_ = pad16(n) + (random.chance(30) ? 16 : 0);
    x_ = make_i8_rows(random, shape_.rows, stored_k, x_stride_);
    w_ = Guarded(size_t{n} * stored_k);
    sums_ = Guarded(size_t{n} * 4);
    for (uint32_t o = 0; o < n; ++o) {
      bool zero = false;
      for (uint32_t i = 0; i < stored_k; ++i) {
        if (i % 4 == 0) zero = shape_.sparse && random.chance(shape_.zeros);
        const int8_t v = i >= k || zero   ? int8_t{0}
                         : shape_.extreme ? (o % 2 == 0 ? int8_t{-127} : int8_t{127})
                                          : random.weight();
        w_.as<int8_t>()[at(o, i)] = v;
      }
      const auto weight = [&](uint32_t i) -> int8_t& { return w_.as<int8_t>()[at(o, i)]; };
      if (shape_.words) fit_words(k, weight);
      int32_t sum = 0;
      for (uint32_t i = 0; i < stored_k; ++i) sum += weight(i);
      sums_.as<int32_t>()[o] = sum;
    }
    if (shape_.sparse) sparse_.take(w_.as<int8_t>(), n, k);
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
    a.fits_words = shape_.words;
    if (shape_.sparse) {
      a.w = sparse_.weights();
      a.sparse = sparse_.places();
      a.scratch = sparse_.scratch();
    }
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
  SparseWeights sparse_;
};

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_STATIC_LINEAR_CASES_H_
