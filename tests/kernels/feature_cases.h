// Random calls of feature_rows and outer_sums.
#ifndef BANTAM_TESTS_KERNELS_FEATURE_CASES_H_
#define BANTAM_TESTS_KERNELS_FEATURE_CASES_H_

#include "tests/kernels/row_cases.h"

namespace bantam::kernels::test {

inline Guarded duplicate(const Guarded& from) {
  Guarded to(from.size());
  std::memcpy(to.data(), from.data(), from.size());
  return to;
}

template <>
class Case<FeatureRows> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : RowShape::random(random);
    relu_ = wanted == nullptr && random.chance(30);
    keys_ = random.chance(50);
    x_width_ = random.between(1, 70);
    x_stride_ = x_width_ + random.between(0, 20);  // x is one of several heads
    epsilon_ = keys_ ? 0.0f : 1e-4f;
    before_ = random.chance(30) ? -__builtin_inff() : random.normal() * 4;
    stride_ = some_stride(random, shape_.width);
    h_ = make_f32_rows(random, shape_.rows, shape_.width, stride_, random.chance(20) ? 60.0f : 3.0f);
    weighed_ = wanted != nullptr || random.chance(50);
    weights_ = make_vector(random, shape_.width, 1.0f);
    x_ = make_rows<float>(shape_.rows, x_stride_, x_width_);
    for (size_t i = 0; i < x_.size() / sizeof(float); ++i) x_.as<float>()[i] = random.normal();
  }

  FeatureRows args(const Table&) {
    copy_ = duplicate(h_);
    sums_ = Guarded(shape_.rows * sizeof(float));
    most_ = before_;
    kept_ = -1;
    return {copy_.as<float>(),
            stride_,
            shape_.rows,
            shape_.width,
            relu_ ? nullptr : x_.as<float>(),
            x_stride_,
            x_width_,
            epsilon_,
            keys_ ? &most_ : nullptr,
            keys_ ? &kept_ : nullptr,
            weighed_ ? weights_.as<float>() : nullptr,
            weighed_ ? sums_.as<float>() : nullptr};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.feature_rows(args(table));
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      result.add(copy_.data() + r * stride_ * sizeof(float), shape_.width * sizeof(float));
    }
    if (weighed_) result.add(sums_.data(), sums_.size());
    result.add(&most_, sizeof(float));
    result.add(&kept_, sizeof(float));
    return result;
  }

  void check(const Result& result) const {
    ASSERT_TRUE(result.finite);
    std::vector<float> y(result.bytes.size() / sizeof(float));
    std::memcpy(y.data(), result.bytes.data(), result.bytes.size());
    double all = double{before_};
    for (uint32_t r = 0; r < shape_.rows; ++r) all = std::fmax(all, largest(r));
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      double squares = 0, sum = 0, size = 0;
      for (uint32_t k = 0; k < x_width_; ++k) squares += std::pow(double{x_.as<float>()[r * x_stride_ + k]}, 2);
      for (uint32_t i = 0; i < shape_.width; ++i) {
        const double h = double{h_.as<float>()[r * stride_ + i]};
        const double feature = relu_ ? std::fmax(h, 0.0) : std::exp(h - squares / 2 - (keys_ ? all : largest(r)));
        ASSERT_NEAR(y[r * shape_.width + i], feature + double{epsilon_}, 2e-5 * feature + 1e-7);
        const double part = (feature + double{epsilon_}) * double{weights_.as<float>()[i]};
        sum += part;
        size += std::fabs(part);
      }
      if (weighed_) {
        ASSERT_NEAR(y[shape_.rows * shape_.width + r], sum, 3e-5 * size + 1e-6);
      }
    }
    const float *most = &y[y.size() - 2], *kept = &y[y.size() - 1];
    ASSERT_EQ(*most, keys_ && !relu_ ? static_cast<float>(all) : before_);
    ASSERT_NEAR(*kept, !keys_ ? -1.0 : relu_ ? 1.0 : std::exp(double{before_} - all), 1e-6);
  }

 private:
  double largest(uint32_t r) const {
    const float* row = h_.as<float>() + r * stride_;
    return double{*std::max_element(row, row + shape_.width)};
  }

  RowShape shape_ = {};
  bool relu_ = false, keys_ = false, weighed_ = false;
  uint32_t x_width_ = 0;
  size_t x_stride_ = 0, stride_ = 0;
  float epsilon_ = 0, before_ = 0, most_ = 0, kept_ = 0;
  Guarded h_, x_, copy_, weights_, sums_;
};

template <>
class Case<OuterSums> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    k_ = wanted != nullptr ? 256 : random.between(1, 40);
    n_ = wanted != nullptr ? 80 : 16 * random.between(1, 5);
    rows_ = wanted != nullptr ? wanted->rows : random.between(1, 20);
    a_stride_ = random.chance(20) ? 0 : k_ + random.between(0, 9);
    b_stride_ = n_ + 16 * random.between(0, 2);
    const float keeps[] = {1.0f, 0.0f, 0.625f};
    keep_ = keeps[random.between(0, 2)];
    const auto fill = [&](Guarded& to) {
      for (size_t i = 0; i < to.size() / sizeof(float); ++i) to.as<float>()[i] = random.normal();
    };
    fill(a_ = make_rows<float>(rows_, a_stride_, k_));
    fill(b_ = make_rows<float>(rows_, b_stride_, n_));
    fill(y_ = Guarded(size_t{k_} * n_ * sizeof(float)));
  }

  OuterSums args(const Table&) {
    copy_ = duplicate(y_);
    return {a_.as<float>(), a_stride_, b_.as<float>(), b_stride_, rows_, k_, n_, keep_, copy_.as<float>()};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.outer_sums(args(table));
    result.add(copy_.data(), copy_.size());
    return result;
  }

  void check(const Result& result) const {
    ASSERT_TRUE(result.finite);
    const float* y = reinterpret_cast<const float*>(result.bytes.data());
    for (uint32_t column = 0; column < n_; ++column) {
      for (uint32_t i = 0; i < k_; ++i) {
        const size_t at = (size_t{column / 16} * k_ + i) * 16 + column % 16;
        double sum = double{y_.as<float>()[at]} * double{keep_}, size = std::fabs(sum);
        for (uint32_t r = 0; r < rows_; ++r) {
          const double part =
              double{a_.as<float>()[r * a_stride_ + i]} * double{b_.as<float>()[r * b_stride_ + column]};
          sum += part;
          size += std::fabs(part);
        }
        ASSERT_NEAR(y[at], sum, 1e-6 * size + 1e-20);
      }
    }
  }

 private:
  uint32_t k_ = 0, n_ = 0, rows_ = 0;
  size_t a_stride_ = 0, b_stride_ = 0;
  float keep_ = 1;
  Guarded a_, b_, y_, copy_;
};

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_FEATURE_CASES_H_
