// Random calls of span_scores.
#ifndef BANTAM_TESTS_KERNELS_SPAN_CASES_H_
#define BANTAM_TESTS_KERNELS_SPAN_CASES_H_

#include "tests/kernels/row_cases.h"

namespace bantam::kernels::test {

template <>
class Case<SpanScores> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    width_ = (wanted != nullptr ? *wanted : RowShape::random(random)).width;
    const uint32_t rows = 1 + random.between(0, 5);
    const uint32_t count = wanted != nullptr ? 5 : random.between(0, 10);
    start_ = make_f32_rows(random, 1, width_, pad16(width_), 2.0f);
    end_ = make_f32_rows(random, 1, width_, pad16(width_), 2.0f);
    labels_ = make_f32_rows(random, rows, width_, pad16(width_), 1.0f);
    for (uint32_t i = 0; i < count; ++i) label_rows_.push_back(random.between(0, rows - 1));
  }

  SpanScores args(const Table&) {
    y_ = Guarded(label_rows_.size() * sizeof(float));
    return {start_.as<float>(),
            end_.as<float>(),
            width_,
            labels_.as<float>(),
            pad16(width_),
            label_rows_.data(),
            static_cast<uint32_t>(label_rows_.size()),
            y_.as<float>()};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.span_scores(args(table));
    result.add(y_.data(), y_.size());
    return result;
  }

  void check(const Result& result) const {
    ASSERT_TRUE(result.finite);
    const float* y = reinterpret_cast<const float*>(result.bytes.data());
    for (size_t i = 0; i < label_rows_.size(); ++i) {
      double sum = 0, size = 0;
      for (uint32_t k = 0; k < width_; ++k) {
        const double span = std::max(double{start_.as<float>()[k]} + double{end_.as<float>()[k]}, 0.0);
        const double label = double{labels_.as<float>()[label_rows_[i] * pad16(width_) + k]};
        sum += span * label;
        size += std::fabs(span * label);
      }
      ASSERT_NEAR(y[i], sum, 1e-6 * (1 + size));
    }
  }

 private:
  uint32_t width_ = 0;
  Guarded start_, end_, labels_, y_;
  std::vector<uint32_t> label_rows_;
};

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_SPAN_CASES_H_
