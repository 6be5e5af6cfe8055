// Random calls of align_row.
#ifndef BANTAM_TESTS_KERNELS_ALIGN_CASES_H_
#define BANTAM_TESTS_KERNELS_ALIGN_CASES_H_

#include "tests/kernels/row_cases.h"

namespace bantam::kernels::test {

template <>
class Case<AlignRow> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    width_ = (wanted != nullptr ? *wanted : RowShape::random(random)).width;
    value_width_ = wanted != nullptr ? width_ : RowShape::random(random).width;
    count_ = wanted != nullptr ? 20 : 1 + random.between(0, 40);
    additive_ = wanted != nullptr || random.chance(50);
    if (wanted == nullptr && random.chance(50)) {
      const auto window = static_cast<float>(1 + random.between(0, 9));
      fall_ = -2.0f / (window * window);
      place_ = static_cast<float>(random.between(0, 40 * count_)) / 40.0f;
    }
    q_ = make_f32_rows(random, 1, width_, pad16(width_), 1.0f);
    keys_ = make_f32_rows(random, count_, width_, pad16(width_), 1.0f);
    v_ = make_f32_rows(random, 1, width_, pad16(width_), 0.5f);
    values_ = make_f32_rows(random, count_, value_width_, pad16(value_width_), 2.0f);
  }

  AlignRow args(const Table&) {
    weights_ = Guarded(align_scratch_floats(count_) * sizeof(float));
    y_ = Guarded(pad16(value_width_) * sizeof(float));
    AlignRow args = {};
    args.q = q_.as<float>();
    args.keys = keys_.as<float>();
    args.key_stride = pad16(width_);
    args.v = additive_ ? v_.as<float>() : nullptr;
    args.width = width_;
    args.scale = kScale;
    args.values = values_.as<float>();
    args.value_stride = pad16(value_width_);
    args.value_width = value_width_;
    args.count = count_;
    args.place = place_;
    args.fall = fall_;
    args.weights = weights_.as<float>();
    args.y = y_.as<float>();
    return args;
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.align_row(args(table));
    result.add(y_.data(), size_t{value_width_} * sizeof(float));
    return result;
  }

  void check(const Result& result) const {
    ASSERT_TRUE(result.finite);
    const float* y = reinterpret_cast<const float*>(result.bytes.data());
    std::vector<double> weights(count_);
    for (uint32_t j = 0; j < count_; ++j) {
      for (uint32_t k = 0; k < width_; ++k) {
        const double q = double{q_.as<float>()[k]}, key = double{keys_.as<float>()[j * pad16(width_) + k]};
        weights[j] += additive_ ? double{v_.as<float>()[k]} * std::tanh(q + key) : q * key;
      }
      weights[j] *= double{kScale};
    }
    naive_softmax(weights);
    for (uint32_t j = 0; j < count_; ++j) {
      const double distance = j - double{place_};
      weights[j] *= std::exp(double{fall_} * distance * distance);
    }
    for (uint32_t i = 0; i < value_width_; ++i) {
      double sum = 0, size = 0;
      for (uint32_t j = 0; j < count_; ++j) {
        const double part = weights[j] * double{values_.as<float>()[j * pad16(value_width_) + i]};
        sum += part;
        size += std::fabs(part);
      }
      ASSERT_NEAR(y[i], sum, 1e-4 * size + 1e-20);
    }
  }

 private:
  static constexpr float kScale = 0.25f;

  uint32_t width_ = 0, value_width_ = 0, count_ = 0;
  bool additive_ = false;
  float place_ = 0, fall_ = 0;
  Guarded q_, keys_, v_, values_, weights_, y_;
};

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_ALIGN_CASES_H_
