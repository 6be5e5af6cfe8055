// Random calls of linear_q8 and linear_f32.
#ifndef BANTAM_TESTS_KERNELS_LINEAR_CASES_H_
#define BANTAM_TESTS_KERNELS_LINEAR_CASES_H_

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernels/naive.h"
#include "tests/kernels/sparse_blocks.h"
#include "tests/kernels/support.h"

namespace bantam::kernels::test {

/// A random call of one kernel. run() makes the call with a table on new output buffers; check() compares the results
/// with naive mathematics in double precision. typical() is the shape for benchmarks.
template <class Args>
class Case;

struct LinearShape {
  uint32_t rows, k, n;
  Activation activation;
  bool bias, extreme, half, measured;
  bool k16 = false;
  uint32_t group = 0;  // of int4 weights; 0: int8
  uint32_t zeros = 0;  // percentage of zero blocks of sparse weights, or of zero weights of a bitmask
  bool sparse = false;
  bool bits = false;   // zero weights are not stored (bitmask)
  bool words = false;  // LinearQ8::fits_words
  bool ternary = false;

  static LinearShape random(Random& random) {
    LinearShape shape = some(random);
    if (!shape.k16 && random.chance(30)) shape.group = 8 * random.between(1, 10);
    if (!shape.k16 && shape.group == 0 && random.chance(30)) {
      shape.ternary = true;
    } else if (!shape.k16 && shape.group == 0 && random.chance(40)) {
      shape.bits = random.chance(50);
      shape.sparse = !shape.bits;
      shape.zeros = random.chance(20) ? 100 : random.between(0, 99);
      // Passes of 16, 32 and 64 rows; with more than 512 inputs they are smaller.
      if (shape.sparse && random.chance(50)) shape.rows = random.between(1, 130);
      if (shape.sparse && random.chance(10)) shape.k = random.between(500, 700);
    }
    return shape;
  }
  static LinearShape some(Random& random) {
    return {random.chance(70) ? random.between(1, 20) : random.between(1, 100),
            random.chance(20) ? random.between(300, 500) : random.between(1, 130),
            16 * (random.chance(20) ? random.between(9, 20) : random.between(1, 9)),
            static_cast<Activation>(random.chance(50) ? 0 : random.between(1, 9)),
            random.chance(70),
            random.chance(10),
            random.chance(40),
            random.chance(40),
            random.chance(25)};
  }
  static LinearShape typical(uint32_t rows) { return {rows, 384, 1536, Activation::kNone, true, false, false, false}; }
};

/// Reduces the weights of one output as far as LinearQ8::fits_words requires, but no further. at(i) returns the weight
/// of input i as int8_t&.
template <class At>
void fit_words(uint32_t k, const At& at) {
  for (uint32_t i = 0; i < k; i += i % 4 == 0 ? 2 : 6) {
    const uint32_t fours[] = {i, i + 1, i + 4, i + 5};
    for (;;) {
      int32_t sum = 0;
      int8_t* most = &at(i);
      for (const uint32_t input : fours) {
        if (input >= k) continue;
        sum += std::abs(at(input));
        if (std::abs(at(input)) > std::abs(*most)) most = &at(input);
      }
      if (sum <= kMostInWords) break;
      *most = static_cast<int8_t>(*most < 0 ? *most + 1 : *most - 1);
    }
  }
}

template <>
class Case<LinearQ8> {
 public:
  using Shape = LinearShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const LinearShape* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : LinearShape::random(random);
    shape_.k = pad4(shape_.k);
    const uint32_t n = shape_.n;
    const uint32_t k = shape_.k;
    const uint32_t true_k = k - (shape_.extreme ? 0 : random.between(0, k > 4 ? 3 : 0));
    const uint32_t stored_k = shape_.k16 ? pad16(k) : k;  // of x and w
    x_stride_ = (pad16(k) + (random.chance(30) ? 16 : 0));
    x_ = make_rows<int8_t>(shape_.rows, x_stride_, stored_k);
    w_ = Guarded(size_t{n} * stored_k);
    w_scale_ = make_vector(random, n, 0.002f, 0.01f);
    x_scale_ = make_vector(random, shape_.rows, 0.001f, 0.01f);
    bias_ = make_vector(random, n, 0.5f);
    w_sum_ = Guarded(size_t{n} * 4);
    if (shape_.group != 0) {
      halves_ = Guarded(size_t{n} * pad8(k) / 2);
      std::memset(halves_.data(), 0x88, halves_.size());
      factors_ = Guarded(size_t{n} * groups());
      for (size_t i = 0; i < factors_.size(); ++i) {
        factors_.data()[i] = static_cast<uint8_t>(shape_.extreme ? 15 : random.between(1, 15));
      }
      scratch_ = Guarded(unpacked_scratch(k));
    }
    if (shape_.ternary) {
      codes_ = Guarded(size_t{n} * pad16(k) / 4);
      std::memset(codes_.data(), 0x55, codes_.size());
      scratch_ = Guarded(unpacked_scratch(pad16(k)));
    }
    for (size_t i = 0; i < x_.size(); ++i) x_.as<int8_t>()[i] = shape_.extreme ? -127 : random.weight();
    for (uint32_t o = 0; o < n; ++o) {
      bool zero = false;
      for (uint32_t i = 0; i < stored_k; ++i) {
        if (i % 4 == 0 || shape_.bits) zero = (shape_.sparse || shape_.bits) && random.chance(shape_.zeros);
        int8_t v = i >= true_k || zero ? int8_t{0}
                   : shape_.extreme    ? (o % 2 == 0 ? int8_t{-127} : int8_t{127})
                                       : random.weight();
        if (shape_.group != 0) v = pack(o, i, v);
        if (shape_.ternary) v = pack_ternary(o, i, v);
        w_.as<int8_t>()[weight_at(o, i)] = v;
      }
      const auto at = [&](uint32_t i) -> int8_t& { return w_.as<int8_t>()[weight_at(o, i)]; };
      if (shape_.words) fit_words(k, at);
      int32_t sum = 0;
      for (uint32_t i = 0; i < stored_k; ++i) sum += at(i);
      w_sum_.as<int32_t>()[o] = sum;
    }
    if (shape_.sparse) sparse_.take(w_.as<int8_t>(), n, k);
    if (shape_.bits) leave_out_zeros();
    // Activations beyond true_k may have any value.
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      for (uint32_t i = true_k; i < stored_k; ++i)
        x_.as<int8_t>()[r * x_stride_ + i] = static_cast<int8_t>(random.next());
    }
  }

  LinearQ8 args(const Table& table) {
    stored_ = make_rows<int8_t>(shape_.rows, x_stride_, shape_.k16 ? pad16(shape_.k) : shape_.k);
    for (size_t i = 0; i < x_.size(); ++i) stored_.data()[i] = static_cast<uint8_t>(x_.data()[i] ^ table.offset_xor);
    y_stride_ = shape_.n + (shape_.rows % 3 == 0 ? 16 : 0);
    y_ = make_rows<float>(shape_.rows, y_stride_, shape_.n);
    row_maximum_ = Guarded(size_t{shape_.rows} * 64);
    std::memset(row_maximum_.data(), 0x7f, row_maximum_.size());
    const bool int4 = shape_.group != 0;
    return {stored_.as<int8_t>(),
            x_stride_,
            x_scale_.as<float>(),
            shape_.rows,
            int4             ? halves_.as<int8_t>()
            : shape_.ternary ? codes_.as<int8_t>()
            : shape_.sparse  ? sparse_.weights()
            : shape_.bits    ? blocks_.as<int8_t>()
                             : w_.as<int8_t>(),
            w_scale_.as<float>(),
            w_sum_.as<int32_t>(),
            shape_.bias ? bias_.as<float>() : nullptr,
            shape_.k,
            shape_.n,
            shape_.activation,
            y_.as<float>(),
            y_stride_,
            shape_.measured ? row_maximum_.as<int32_t>() : nullptr,
            shape_.k16,
            int4 ? factors_.as<uint8_t>() : nullptr,
            shape_.group,
            shape_.ternary,
            shape_.sparse ? sparse_.places() : SparseBlocks{},
            shape_.bits ? index_.as<uint64_t>() : nullptr,
            shape_.sparse          ? sparse_.scratch()
            : scratch_.size() != 0 ? scratch_.as<int8_t>()
                                   : nullptr,
            shape_.words};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.linear_q8(args(table));
    EXPECT_TRUE(untouched(y_.data(), shape_.rows, y_stride_ * 4, size_t{shape_.n} * 4, y_stride_ * 4));
    for (uint32_t r = 0; r < shape_.rows; ++r) result.add(y_.as<float>() + r * y_stride_, size_t{shape_.n} * 4);
    if (shape_.measured) check_row_maximum();
    return result;
  }

  void check(const Result& result) const {
    const float* y = reinterpret_cast<const float*>(result.bytes.data());
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      for (uint32_t o = 0; o < shape_.n; ++o) {
        int64_t acc = 0;
        for (uint32_t i = 0; i < shape_.k; ++i) {
          acc += int64_t{x_.as<int8_t>()[r * x_stride_ + i]} * w_.as<int8_t>()[weight_at(o, i)];
        }
        const double product = static_cast<double>(acc) * x_scale_.as<float>()[r] * w_scale_.as<float>()[o];
        const double v = product + (shape_.bias ? bias_.as<float>()[o] : 0.0f);
        const double expected = naive_activation(shape_.activation, v);
        if (!result.finite && !(std::fabs(expected) < 1e37)) continue;
        ASSERT_NEAR(y[r * shape_.n + o], expected,
                    activation_tolerance(shape_.activation, v, 3e-7 * (std::fabs(product) + std::fabs(v))));
      }
    }
  }
  double multiplications() const { return double{1} * shape_.rows * shape_.k * shape_.n; }

 private:
  void check_row_maximum() const {
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      int32_t expected = 0;
      for (uint32_t o = 0; o < shape_.n; ++o) {
        int32_t bits;
        std::memcpy(&bits, y_.as<float>() + r * y_stride_ + o, 4);
        expected = std::max(expected, bits & 0x7fffffff);
      }
      const int32_t* found = row_maximum_.as<int32_t>() + r * 16;
      EXPECT_EQ(expected, *std::max_element(found, found + 16)) << "row " << r;
    }
  }

  void leave_out_zeros() {
    const int8_t* w = w_.as<int8_t>();
    const auto count = std::count_if(w, w + w_.size(), [](int8_t v) { return v != 0; });
    blocks_ = Guarded(static_cast<size_t>(count) + kBitmaskSlack);
    std::memset(blocks_.data(), 0x55, blocks_.size());
    index_ = Guarded(w_.size() / 8);
    std::memset(index_.data(), 0, index_.size());
    int8_t* next = blocks_.as<int8_t>();
    for (size_t i = 0; i < w_.size(); ++i) {
      if (w[i] == 0) continue;
      *next++ = w[i];
      index_.as<uint64_t>()[i / 64] |= uint64_t{1} << (i % 64);
    }
    scratch_ = Guarded(unpacked_scratch(shape_.k));
  }
  uint32_t groups() const { return (shape_.k + shape_.group - 1) / shape_.group; }
  /// Stores the int4 weight for `v` and returns its value.
  int8_t pack(uint32_t o, uint32_t i, int8_t v) {
    const int half = v / 16;  // [-7, 7]; otherwise -8 at least, times a factor
    const int stored = v == 0 ? 8 : half + (half < 0 ? 7 : 8);
    uint8_t& byte =
        halves_.data()[size_t{o / 16} * (pad8(shape_.k) / 8) * 64 + size_t{i / 8} * 64 + (o % 16) * 4 + i % 4];
    byte = static_cast<uint8_t>(i % 8 < 4 ? (byte & 0xF0) | stored : (byte & 0x0F) | stored << 4);
    const uint8_t factor = factors_.data()[(size_t{o / 16} * groups() + i / shape_.group) * 16 + o % 16];
    return static_cast<int8_t>((stored - 8) * factor);
  }
  /// Stores the ternary weight for `v` and returns it.
  int8_t pack_ternary(uint32_t o, uint32_t i, int8_t v) {
    const int weight = v > 40 ? 1 : v < -40 ? -1 : 0;
    uint8_t& byte =
        codes_.data()[size_t{o / 16} * (pad16(shape_.k) / 16) * 64 + size_t{i / 16} * 64 + (o % 16) * 4 + i % 4];
    const uint32_t bit = i % 16 / 4 * 2;
    byte = static_cast<uint8_t>((byte & ~(3 << bit)) | (weight + 1) << bit);
    return static_cast<int8_t>(weight);
  }
  size_t weight_at(uint32_t o, uint32_t i) const {
    if (shape_.k16) return size_t{o} * pad16(shape_.k) + i;
    return size_t{o / 16} * shape_.k * 16 + size_t{i / 4} * 64 + (o % 16) * 4 + i % 4;
  }

  LinearShape shape_{};
  size_t x_stride_ = 0;
  size_t y_stride_ = 0;
  Guarded x_, stored_, w_, w_scale_, x_scale_, w_sum_, bias_, y_, row_maximum_, halves_, codes_, factors_, scratch_,
      blocks_, index_;
  SparseWeights sparse_;
};

/// Returns the f16 nearest to x, for |x| in the range of normal f16 values.
inline uint16_t half_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  if ((bits & 0x7fffffffu) < 0x38800000u) return static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t rounded = (bits & 0x7fffffffu) + 0x1000u - 0x38000000u;
  return static_cast<uint16_t>(((bits >> 16) & 0x8000u) | (rounded >> 13));
}
inline double value_of_half(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const double mantissa = half & 0x3ff;
  const double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                           : exponent == 31 ? (mantissa != 0 ? NAN : HUGE_VAL)
                                            : std::ldexp(mantissa + 1024, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

template <>
class Case<LinearF32> {
 public:
  using Shape = LinearShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const LinearShape* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : LinearShape::random(random);
    x_stride_ = some_stride(random, shape_.k);
    x_ = make_rows<float>(shape_.rows, x_stride_, shape_.k);
    for (size_t i = 0; i < x_.size() / 4; ++i) x_.as<float>()[i] = random.normal();
    bias_ = make_vector(random, shape_.n, 0.5f);
    const size_t count = size_t{shape_.k} * shape_.n;
    w_ = Guarded(count * (shape_.half ? 2 : 4));
    values_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const float v = random.normal() * 0.2f;
      values_[i] = v;
      if (shape_.half) {
        w_.as<uint16_t>()[i] = half_of(v);
        values_[i] = value_of_half(half_of(v));
      } else {
        w_.as<float>()[i] = v;
      }
    }
  }

  LinearF32 args(const Table&) {
    y_stride_ = shape_.n + (shape_.rows % 3 == 0 ? 16 : 0);
    y_ = make_rows<float>(shape_.rows, y_stride_, shape_.n);
    return {x_.as<float>(),
            x_stride_,
            shape_.rows,
            w_.data(),
            shape_.half ? Element::kF16 : Element::kF32,
            shape_.bias ? bias_.as<float>() : nullptr,
            shape_.k,
            shape_.n,
            shape_.activation,
            y_.as<float>(),
            y_stride_};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.linear_f32(args(table));
    EXPECT_TRUE(untouched(y_.data(), shape_.rows, y_stride_ * 4, size_t{shape_.n} * 4, y_stride_ * 4));
    for (uint32_t r = 0; r < shape_.rows; ++r) result.add(y_.as<float>() + r * y_stride_, size_t{shape_.n} * 4);
    return result;
  }

  void check(const Result& result) const {
    const float* y = reinterpret_cast<const float*>(result.bytes.data());
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      for (uint32_t o = 0; o < shape_.n; ++o) {
        double v = shape_.bias ? bias_.as<float>()[o] : 0.0f;
        double magnitude = std::fabs(v);
        for (uint32_t i = 0; i < shape_.k; ++i) {
          const double w = values_[size_t{o / 16} * shape_.k * 16 + size_t{i} * 16 + o % 16];
          v += w * x_.as<float>()[r * x_stride_ + i];
          magnitude += std::fabs(w * x_.as<float>()[r * x_stride_ + i]);
        }
        const double expected = naive_activation(shape_.activation, v);
        if (!result.finite && !(std::fabs(expected) < 1e37)) continue;
        ASSERT_NEAR(y[r * shape_.n + o], expected, activation_tolerance(shape_.activation, v, 1e-6 * magnitude + 1e-7));
      }
    }
  }
  double multiplications() const { return double{1} * shape_.rows * shape_.k * shape_.n; }

 private:
  LinearShape shape_{};
  size_t x_stride_ = 0;
  size_t y_stride_ = 0;
  Guarded x_, w_, bias_, y_;
  std::vector<double> values_;
};

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_LINEAR_CASES_H_
