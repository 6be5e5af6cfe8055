// Random calls of epilogue_rows, embed_rows, pool_rows, softmax_rows and recurrent_row.
#ifndef BANTAM_TESTS_KERNELS_ROW_CASES_H_
#define BANTAM_TESTS_KERNELS_ROW_CASES_H_

#include "tests/kernels/linear_cases.h"

namespace bantam::kernels::test {

struct RowShape {
  uint32_t rows, width;
  static RowShape random(Random& random) {
    return {random.between(1, 9), random.chance(20) ? some_width(random, 800) : some_width(random, 90)};
  }
  static RowShape typical(uint32_t rows) { return {rows, 384}; }
};

/// Returns f32 rows with arbitrary values, including NaN, in the padding lanes.
inline Guarded make_f32_rows(Random& random, uint32_t rows, uint32_t width, size_t stride, float scale) {
  Guarded x = make_rows<float>(rows, stride, pad16(width));
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t i = 0; i < pad16(width); ++i) {
      x.as<float>()[r * stride + i] = i < width ? random.normal() * scale : NAN;
    }
  }
  return x;
}

template <>
class Case<EpilogueRows> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) : random_(seed) {
    shape_ = wanted != nullptr ? *wanted : RowShape::random(random_);
    uint32_t width = shape_.width;
    const bool typical = wanted != nullptr;
    activation_ = typical || random_.chance(60) ? Activation::kNone : static_cast<Activation>(random_.between(1, 9));
    norm_ = typical ? Norm::kLayer : static_cast<Norm>(random_.between(0, 3));
    residual_kind_ = typical ? 1 : random_.between(0, 2);
    stores_ = typical ? 3 : random_.between(1, 3);
    alias_ = random_.between(0, 2);
    measured_ = !typical && random_.chance(15);
    if (measured_) {
      shape_.width = width = pad16(width);
      activation_ = Activation::kNone;
      norm_ = Norm::kNone;
      residual_kind_ = 0;
      stores_ = 2;
    }
    has_gate_ = !typical && !measured_ && random_.chance(30);
    before_norm_ = !typical && stores_ == 3 && norm_ != Norm::kNone && random_.chance(40);
    has_gamma_ = random_.chance(80);
    has_smooth_ = !measured_ && random_.chance(40);
    x_stride_ = some_stride(random_, width);
    const float scales[] = {1.0f, 1e-3f, 50.0f, 1e-35f, 1e-41f, 0.0f};
    const float scale = scales[typical || random_.chance(60) ? 0 : random_.between(1, 5)];
    x_ = make_f32_rows(random_, shape_.rows, width, x_stride_, scale);
    residual_ = make_f32_rows(random_, shape_.rows, width, x_stride_, scale);
    gate_ = make_f32_rows(random_, shape_.rows, width, x_stride_, 1.0f);
    residual_q_ = Guarded((shape_.rows - 1) * x_stride_ + width);
    for (size_t i = 0; i < residual_q_.size(); ++i) residual_q_.as<int8_t>()[i] = random_.weight();
    residual_scale_ = make_vector(random_, shape_.rows, 0.001f, 0.01f);
    gamma_ = make_vector(random_, width, 0.3f, 1.0f);
    beta_ = make_vector(random_, width, 0.3f);
    smooth_ = make_vector(random_, width, 0.5f, 1.0f);
    epsilon_ = random_.chance(50) ? 1e-12f : 1e-5f;
  }

  EpilogueRows args(const Table& table) {
    y_ = make_rows<float>(shape_.rows, x_stride_, pad16(shape_.width));
    q_ = make_rows<int8_t>(shape_.rows, pad16(shape_.width), pad16(shape_.width));
    q_scale_ = Guarded(size_t{shape_.rows} * 4);
    stored_residual_ = make_rows<int8_t>(shape_.rows, x_stride_, pad16(shape_.width));
    residual_scale_copy_ = copy(residual_scale_);
    for (size_t i = 0; i < residual_q_.size(); ++i) {
      stored_residual_.data()[i] = static_cast<uint8_t>(residual_q_.data()[i] ^ table.offset_xor);
    }
    x_copy_ = copy(x_);
    residual_copy_ = copy(residual_);
    EpilogueRows a{};
    a.x = x_copy_.as<float>();
    a.x_stride = x_stride_;
    a.rows = shape_.rows;
    a.width = shape_.width;
    a.activation = activation_;
    if (has_gate_) a.gate = gate_.as<float>();
    a.gate_stride = x_stride_;
    a.y_before_norm = before_norm_;
    if (residual_kind_ == 1) a.residual = residual_copy_.as<float>();
    if (residual_kind_ == 2) {
      a.residual_q = stored_residual_.as<int8_t>();
      a.residual_scale = residual_scale_copy_.as<float>();
    }
    a.residual_stride = x_stride_;
    a.norm = norm_;
    a.gamma = has_gamma_ ? gamma_.as<float>() : nullptr;
    a.beta = has_gamma_ ? beta_.as<float>() : nullptr;
    a.epsilon = epsilon_;
    if ((stores_ & 1) != 0) {
      // Often in place over x or over the residual.
      a.y = alias_ == 1                          ? x_copy_.as<float>()
            : alias_ == 2 && residual_kind_ == 1 ? residual_copy_.as<float>()
                                                 : y_.as<float>();
      a.y_stride = x_stride_;
    }
    if ((stores_ & 2) != 0) {
      a.q = q_.as<int8_t>();
      a.q_stride = pad16(shape_.width);
      a.q_scale = q_scale_.as<float>();
      a.smooth = has_smooth_ ? smooth_.as<float>() : nullptr;
      if (alias_ != 0 && residual_kind_ == 2) {
        a.q = stored_residual_.as<int8_t>();
        a.q_stride = x_stride_;
        a.q_scale = residual_scale_copy_.as<float>();
      }
    }
    if (measured_) a.row_maximum = measure();
    return a;
  }

  Result run(const Table& table) {
    const EpilogueRows a = args(table);
    Result result;
    result.finite = table.epilogue_rows(a);
    if (!result.finite) return result;
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      if (a.y != nullptr) result.add(a.y + r * a.y_stride, size_t{shape_.width} * 4);
      if (a.q != nullptr) {
        result.add_q8(a.q + r * a.q_stride, pad16(shape_.width), table.offset_xor);
        result.add(a.q_scale + r, 4);
      }
    }
    return result;
  }

  const int32_t* measure() {
    row_maximum_ = Guarded(size_t{shape_.rows} * 64);
    std::memset(row_maximum_.data(), 0, row_maximum_.size());
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      for (uint32_t i = 0; i < shape_.width; ++i) {
        int32_t bits;
        std::memcpy(&bits, x_.as<float>() + r * x_stride_ + i, 4);
        int32_t& lane = row_maximum_.as<int32_t>()[r * 16 + i % 16];
        lane = std::max(lane, bits & 0x7fffffff);
      }
    }
    return row_maximum_.as<int32_t>();
  }

  void check(const Result& result) const {
    if (!result.finite) return;
    size_t at = 0;
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      double error = 0;
      std::vector<double> sum;
      std::vector<double> expected = naive_row(r, &error, &sum);
      if ((stores_ & 1) != 0) {
        const float* y = reinterpret_cast<const float*>(result.bytes.data() + at);
        const std::vector<double>& stored = before_norm_ ? sum : expected;
        for (uint32_t i = 0; i < shape_.width; ++i) ASSERT_NEAR(y[i], stored[i], error) << "column " << i;
        at += size_t{shape_.width} * 4;
      }
      if ((stores_ & 2) != 0) {
        const int8_t* q = reinterpret_cast<const int8_t*>(result.bytes.data() + at);
        float scale;
        std::memcpy(&scale, result.bytes.data() + at + pad16(shape_.width), 4);
        double largest = 0;
        for (uint32_t i = 0; i < shape_.width; ++i) {
          if (has_smooth_) expected[i] *= double{smooth_.as<float>()[i]};
          largest = std::fmax(largest, std::fabs(expected[i]));
        }
        if (has_smooth_) error *= 1.5;
        if (largest < 1e-31) {
          ASSERT_LE(scale, 1.0f);
        } else {
          ASSERT_NEAR(scale, largest / 127, error / 127 + 1e-7 * largest);
          for (uint32_t i = 0; i < shape_.width; ++i) {
            ASSERT_NEAR(q[i] * double{scale}, expected[i], 0.501 * scale + error) << "column " << i;
          }
        }
        for (uint32_t i = shape_.width; i < pad16(shape_.width); ++i) ASSERT_EQ(q[i], 0);
        at += pad16(shape_.width) + 4;
      }
    }
  }

 private:
  static Guarded copy(const Guarded& from) {
    Guarded to(from.size());
    std::memcpy(to.data(), from.data(), from.size());
    return to;
  }

  /// `sum`: the row before its norm.
  std::vector<double> naive_row(uint32_t r, double* error, std::vector<double>* sum) const {
    const uint32_t width = shape_.width;
    std::vector<double> v(width);
    double mean = 0;
    double largest = 0;
    *error = 0;
    for (uint32_t i = 0; i < width; ++i) {
      const double x = x_.as<float>()[r * x_stride_ + i];
      v[i] = naive_activation(activation_, x);
      *error = std::fmax(
          *error, activation_tolerance(activation_, x, activation_ == Activation::kNone ? 1e-7 * std::fabs(x) : 0));
      if (has_gate_) {
        const double gate = gate_.as<float>()[r * x_stride_ + i];
        *error = std::fmax(*error, *error * std::fabs(gate) + 1e-7 * std::fabs(v[i] * gate));
        v[i] *= gate;
      }
      if (residual_kind_ == 1) v[i] += residual_.as<float>()[r * x_stride_ + i];
      if (residual_kind_ == 2) {
        v[i] += residual_q_.as<int8_t>()[r * x_stride_ + i] * double{residual_scale_.as<float>()[r]};
      }
      mean += v[i] / width;
      largest = std::fmax(largest, std::fabs(v[i]));
    }
    *error = std::fmax(*error, largest * 1e-6);
    *sum = v;
    if (norm_ != Norm::kLayer) mean = 0;
    double variance = 0;
    for (double x : v) variance += (x - mean) * (x - mean) / width;
    const double deviation = std::sqrt(variance + epsilon_);
    if (norm_ == Norm::kLayer || norm_ == Norm::kRms) *error = *error / deviation * 4 + 1e-5;
    for (uint32_t i = 0; i < width && norm_ != Norm::kNone; ++i) {
      if (norm_ != Norm::kAffine) v[i] = (v[i] - mean) / deviation;
      if (has_gamma_) v[i] = v[i] * gamma_.as<float>()[i] + beta_.as<float>()[i];
    }
    *error = *error * 3 + 1e-44;
    return v;
  }

  Random random_;
  RowShape shape_{};
  Activation activation_{};
  Norm norm_{};
  uint32_t residual_kind_ = 0;
  uint32_t stores_ = 0;
  uint32_t alias_ = 0;
  bool has_gamma_ = false;
  bool has_smooth_ = false;
  bool measured_ = false;
  bool has_gate_ = false;
  bool before_norm_ = false;
  float epsilon_ = 0;
  size_t x_stride_ = 0;
  Guarded x_, gate_, residual_, residual_q_, residual_scale_, gamma_, beta_, smooth_, row_maximum_;
  Guarded x_copy_, residual_copy_, stored_residual_, residual_scale_copy_, y_, q_, q_scale_;
};

template <>
class Case<EmbedRows> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : RowShape::random(random);
    const uint32_t count = wanted != nullptr ? 3 : random.between(1, 8);
    stride_ = some_stride(random, shape_.width);
    for (uint32_t s = 0; s < count; ++s) tables_.push_back(make_table(random, wanted != nullptr));
  }

  EmbedRows args(const Table&) {
    sources_.clear();
    for (const TableData& t : tables_) {
      sources_.push_back(
          {t.data.data(), t.type, t.tiled, shape_.width, t.scales.as<float>(), t.scale, t.index.as<int32_t>()});
    }
    y_ = make_rows<float>(shape_.rows, stride_, pad16(shape_.width));
    return {sources_.data(), static_cast<uint32_t>(sources_.size()), shape_.rows, shape_.width, y_.as<float>(),
            stride_};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.embed_rows(args(table));
    EXPECT_TRUE(untouched(y_.data(), shape_.rows, stride_ * 4, size_t{pad16(shape_.width)} * 4, stride_ * 4));
    for (uint32_t r = 0; r < shape_.rows; ++r) result.add(y_.as<float>() + r * stride_, size_t{shape_.width} * 4);
    return result;
  }

  void check(const Result& result) const {
    ASSERT_TRUE(result.finite);
    const float* y = reinterpret_cast<const float*>(result.bytes.data());
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      for (uint32_t i = 0; i < shape_.width; ++i) {
        double expected = 0;
        double magnitude = 0;
        for (const TableData& t : tables_) {
          const int32_t index = t.index.as<int32_t>()[r];
          if (index < 0) continue;
          const double v = t.values[static_cast<size_t>(index) * shape_.width + i];
          expected += v;
          magnitude += std::fabs(v);
        }
        ASSERT_NEAR(y[r * shape_.width + i], expected, magnitude * 1e-6);
      }
    }
  }

 private:
  struct TableData {
    Element type;
    bool tiled;
    float scale;
    Guarded data, scales, index;
    std::vector<double> values;
  };

  TableData make_table(Random& random, bool typical) {
    const uint32_t entries = typical ? 500 : random.between(1, 40);
    const uint32_t width = shape_.width;
    const Element types[] = {Element::kI8, Element::kF16, Element::kF32};
    TableData t{types[typical ? 0 : random.between(0, 2)],
                !typical && random.chance(40),
                random.chance(50) ? 1.0f : 3.7f,
                Guarded(),
                make_vector(random, entries, 0.001f, 0.01f),
                Guarded(size_t{shape_.rows} * 4),
                {}};
    const size_t element = t.type == Element::kI8 ? 1 : t.type == Element::kF16 ? 2 : 4;
    const uint32_t tile_width = t.type == Element::kI8 ? pad4(width) : width;
    t.data = Guarded((t.tiled ? size_t{pad16(entries)} * tile_width : size_t{entries} * width) * element);
    std::memset(t.data.data(), 0, t.data.size());
    t.values.resize(size_t{entries} * width);
    for (uint32_t v = 0; v < entries; ++v) {
      for (uint32_t i = 0; i < width; ++i) {
        size_t at = size_t{v} * width + i;
        if (t.tiled && t.type == Element::kI8) {
          at = size_t{v / 16} * tile_width * 16 + size_t{i / 4} * 64 + (v % 16) * 4 + i % 4;
        } else if (t.tiled) {
          at = size_t{v / 16} * width * 16 + size_t{i} * 16 + v % 16;
        }
        double& value = t.values[size_t{v} * width + i];
        if (t.type == Element::kI8) {
          t.data.as<int8_t>()[at] = random.weight();
          value = t.data.as<int8_t>()[at] * double{t.scales.as<float>()[v]} * t.scale;
        } else if (t.type == Element::kF16) {
          t.data.as<uint16_t>()[at] = half_of(random.normal());
          value = value_of_half(t.data.as<uint16_t>()[at]) * t.scale;
        } else {
          t.data.as<float>()[at] = random.normal();
          value = double{t.data.as<float>()[at]} * t.scale;
        }
      }
    }
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      const uint32_t entry = random.chance(20) ? entries - 1 : random.between(0, entries - 1);
      t.index.as<int32_t>()[r] = random.chance(10) ? -1 : static_cast<int32_t>(entry);
    }
    return t;
  }

  RowShape shape_{};
  size_t stride_ = 0;
  std::vector<TableData> tables_;
  std::vector<EmbedSource> sources_;
  Guarded y_;
};

template <>
class Case<PoolRows> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : RowShape::random(random);
    begin_ = wanted != nullptr ? 0 : random.between(0, shape_.rows - 1);
    end_ = wanted != nullptr ? shape_.rows : random.between(begin_ + 1, shape_.rows);
    kind_ = wanted != nullptr ? Pool::kMean : static_cast<Pool>(random.between(0, 4));
    l2_ = wanted != nullptr || random.chance(50);
    stride_ = some_stride(random, shape_.width);
    x_ = make_f32_rows(random, shape_.rows, shape_.width, stride_, random.chance(10) ? 0.0f : 2.0f);
    if (wanted == nullptr && random.chance(50)) quantize(random);
  }

  PoolRows args(const Table& table) {
    y_ = Guarded(size_t{pad16(shape_.width)} * 4);
    stored_ = Guarded(x_q_.size());
    for (size_t i = 0; i < x_q_.size(); ++i) {
      stored_.data()[i] = static_cast<uint8_t>(x_q_.data()[i] ^ table.offset_xor);
    }
    const bool q8 = x_q_.size() != 0;
    return {q8 ? nullptr : x_.as<float>(),
            q8 ? stored_.as<int8_t>() : nullptr,
            q8 ? x_scale_.as<float>() : nullptr,
            stride_,
            begin_,
            end_,
            shape_.width,
            kind_,
            l2_,
            y_.as<float>()};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.pool_rows(args(table));
    result.add(y_.data(), size_t{shape_.width} * 4);
    return result;
  }

  void check(const Result& result) const {
    ASSERT_TRUE(result.finite);
    std::vector<double> expected(shape_.width);
    double squares = 0;
    for (uint32_t i = 0; i < shape_.width; ++i) {
      double& v = expected[i];
      v = x_.as<float>()[(kind_ == Pool::kLast ? end_ - 1 : begin_) * stride_ + i];
      for (uint32_t r = begin_ + 1; r < end_; ++r) {
        const double next = x_.as<float>()[r * stride_ + i];
        if (kind_ == Pool::kMean || kind_ == Pool::kSum) v += next;
        if (kind_ == Pool::kMax) v = std::fmax(v, next);
      }
      if (kind_ == Pool::kMean) v /= end_ - begin_;
      squares += v * v;
    }
    const float* y = reinterpret_cast<const float*>(result.bytes.data());
    const double norm = l2_ ? std::fmax(std::sqrt(squares), 1e-12) : 1.0;
    for (uint32_t i = 0; i < shape_.width; ++i) ASSERT_NEAR(y[i], expected[i] / norm, 2e-5 / norm);
  }

 private:
  RowShape shape_{};
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  Pool kind_{};
  bool l2_ = false;
  /// Quantizes the rows to int8 with one scale each; x_ gets the dequantized values.
  void quantize(Random& random) {
    x_q_ = make_rows<int8_t>(shape_.rows, stride_, shape_.width);
    x_scale_ = Guarded(size_t{shape_.rows} * 4);
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      const float scale = (random.unit() + 1.5f) * 0.02f;
      x_scale_.as<float>()[r] = scale;
      for (uint32_t i = 0; i < shape_.width; ++i) {
        const int8_t q = random.weight();
        x_q_.as<int8_t>()[r * stride_ + i] = q;
        x_.as<float>()[r * stride_ + i] = static_cast<float>(q) * scale;
      }
    }
  }

  size_t stride_ = 0;
  Guarded x_, x_q_, x_scale_, stored_, y_;
};

template <>
class Case<SoftmaxRows> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : RowShape::random(random);
    stride_ = some_stride(random, shape_.width);
    x_ = make_f32_rows(random, shape_.rows, shape_.width, stride_, random.chance(30) ? 100.0f : 3.0f);
  }

  SoftmaxRows args(const Table&) {
    y_ = Guarded(x_.size());
    std::memcpy(y_.data(), x_.data(), x_.size());
    return {y_.as<float>(), stride_, shape_.rows, shape_.width};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.softmax_rows(args(table));
    for (uint32_t r = 0; r < shape_.rows; ++r) result.add(y_.as<float>() + r * stride_, size_t{shape_.width} * 4);
    return result;
  }

  void check(const Result& result) const {
    ASSERT_TRUE(result.finite);
    const float* y = reinterpret_cast<const float*>(result.bytes.data());
    for (uint32_t r = 0; r < shape_.rows; ++r) {
      const float* x = x_.as<float>() + r * stride_;
      std::vector<double> expected(x, x + shape_.width);
      naive_softmax(expected);
      for (uint32_t i = 0; i < shape_.width; ++i) {
        ASSERT_NEAR(y[r * shape_.width + i], expected[i], 1e-5 * expected[i] + 1e-30);
      }
    }
  }

 private:
  RowShape shape_{};
  size_t stride_ = 0;
  Guarded x_, y_;
};

template <>
class Case<ScanRow> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    width_ = (wanted != nullptr ? *wanted : RowShape::random(random)).width;
    gated_ = wanted == nullptr && random.chance(40);
    weighted_ = wanted == nullptr && !gated_ && random.chance(50);
    first_ = wanted == nullptr && random.chance(20);
    skips_ = !gated_ && !weighted_ && random.chance(70);
    states_ = gated_ ? 1 : weighted_ ? 2 : wanted != nullptr ? 16 : random.between(1, 18);
    x_ = make_f32_rows(random, 1, width_, pad16(width_), 2.0f);
    steps_ = make_f32_rows(random, 1, width_, pad16(width_), 1.0f);
    rates_ = make_f32_rows(random, states_, width_, pad16(width_), 3.0f);
    before_ = make_f32_rows(random, states_, width_, pad16(width_), 2.0f);
    b_ = make_f32_rows(random, 1, states_, pad16(states_), 1.0f);
    c_ = make_f32_rows(random, 1, states_, pad16(states_), 1.0f);
    skip_ = make_f32_rows(random, 1, width_, pad16(width_), 1.0f);
    for (uint32_t i = 0; i < width_; ++i) steps_.as<float>()[i] = std::fabs(steps_.as<float>()[i]);
    for (uint32_t i = 0; i < states_ * pad16(width_); ++i) rates_.as<float>()[i] = -std::fabs(rates_.as<float>()[i]);
  }

  ScanRow args(const Table&) {
    after_ = Guarded(before_.size());
    y_ = Guarded(x_.size());
    return {x_.as<float>(),
            steps_.as<float>(),
            rates_.as<float>(),
            gated_ || weighted_ ? nullptr : b_.as<float>(),
            gated_ || weighted_ ? nullptr : c_.as<float>(),
            skips_ ? skip_.as<float>() : nullptr,
            first_ ? nullptr : before_.as<float>(),
            after_.as<float>(),
            y_.as<float>(),
            width_,
            states_};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.scan_row(args(table));
    result.add(y_.data(), size_t{width_} * 4);
    for (uint32_t n = 0; n < states_; ++n) result.add(after_.as<float>() + n * pad16(width_), size_t{width_} * 4);
    return result;
  }

  void check(const Result& result) const {
    ASSERT_TRUE(result.finite);
    const float* y = reinterpret_cast<const float*>(result.bytes.data());
    for (uint32_t i = 0; i < width_; ++i) {
      const double x = double{x_.as<float>()[i]}, s = double{steps_.as<float>()[i]};
      if (weighted_) {
        const uint32_t second = pad16(width_) + i;
        const double mean = double{before_.as<float>()[i]}, log = double{before_.as<float>()[second]};
        const double left = std::exp(log + double{rates_.as<float>()[i]});
        const double own = std::exp(s + double{rates_.as<float>()[second]});
        const double behind = (left * mean + std::exp(s) * x) / (left + std::exp(s));
        const double size = 4e-6 * (1 + std::fabs(mean) + std::fabs(x));
        ASSERT_NEAR(y[i], first_ ? x : (std::exp(log) * mean + own * x) / (std::exp(log) + own), size);
        ASSERT_NEAR(y[width_ + i], first_ ? x : behind, size);
        ASSERT_NEAR(y[2 * width_ + i], first_ ? s : std::log(left + std::exp(s)), 4e-6 * (1 + std::fabs(log)));
        continue;
      }
      double sum = skips_ ? double{skip_.as<float>()[i]} * x : 0, size = std::fabs(sum) + 1;
      for (uint32_t n = 0; n < states_; ++n) {
        const uint32_t at = n * pad16(width_) + i;
        const double kept = std::exp(s * double{rates_.as<float>()[at]});
        const double factor = !gated_ ? s * double{b_.as<float>()[n]} : first_ ? 1 : std::sqrt(1 - kept * kept);
        const double h = (first_ ? 0 : kept * double{before_.as<float>()[at]}) + factor * x;
        ASSERT_NEAR(y[width_ * (1 + n) + i], h, 4e-6 * (1 + std::fabs(h) + std::fabs(x)));
        const double part = gated_ ? h : double{c_.as<float>()[n]} * h;
        sum += part;
        size += std::fabs(part);
      }
      ASSERT_NEAR(y[i], sum, 1e-5 * size);
    }
  }

 private:
  uint32_t width_ = 0, states_ = 1;
  bool gated_ = false, weighted_ = false, first_ = false, skips_ = false;
  Guarded x_, steps_, rates_, before_, b_, c_, skip_, after_, y_;
};

template <>
class Case<RecurrentRow> {
 public:
  using Shape = RowShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const RowShape* wanted) {
    Random random(seed);
    width_ = (wanted != nullptr ? *wanted : RowShape::random(random)).width;
    lstm_ = wanted != nullptr || random.chance(50);
    ssru_ = !lstm_ && random.chance(40);
    const float scale = random.chance(20) ? 40.0f : 2.0f;
    x_ = make_f32_rows(random, gates(), width_, pad16(width_), scale);
    s_ = make_f32_rows(random, gates(), width_, pad16(width_), scale);
    c_ = make_f32_rows(random, 1, width_, pad16(width_), 3.0f);
    h_ = make_f32_rows(random, 1, width_, pad16(width_), 1.0f);
  }

  RecurrentRow args(const Table&) {
    c_now_ = Guarded(c_.size());
    h_now_ = Guarded(h_.size());
    std::memcpy(c_now_.data(), c_.data(), c_.size());
    std::memcpy(h_now_.data(), h_.data(), h_.size());
    return {x_.as<float>(), ssru_ ? nullptr : s_.as<float>(), width_, lstm_ ? c_now_.as<float>() : nullptr,
            h_now_.as<float>()};
  }

  Result run(const Table& table) {
    Result result;
    result.finite = table.recurrent_row(args(table));
    result.add(h_now_.data(), size_t{width_} * 4);
    result.add(c_now_.data(), size_t{width_} * 4);
    return result;
  }

  void check(const Result& result) const {
    ASSERT_TRUE(result.finite);
    const float* h = reinterpret_cast<const float*>(result.bytes.data());
    for (uint32_t i = 0; i < width_; ++i) {
      const auto x = [&](uint32_t gate) { return double{x_.as<float>()[gate * pad16(width_) + i]}; };
      const auto s = [&](uint32_t gate) { return double{s_.as<float>()[gate * pad16(width_) + i]}; };
      const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
      if (ssru_) {
        ASSERT_NEAR(h[i], x(1) + sigmoid(x(0)) * (double{h_.as<float>()[i]} - x(1)), 2e-7 * (50 + std::fabs(x(1))));
        continue;
      }
      if (!lstm_) {
        const double n = std::tanh(x(2) + sigmoid(x(0) + s(0)) * s(2)), z = sigmoid(x(1) + s(1));
        ASSERT_NEAR(h[i], (1 - z) * n + z * double{h_.as<float>()[i]}, 4e-6);
        continue;
      }
      const double c = sigmoid(x(1) + s(1)) * double{c_.as<float>()[i]} + sigmoid(x(0) + s(0)) * std::tanh(x(2) + s(2));
      ASSERT_NEAR(h[width_ + i], c, 8e-6);
      ASSERT_NEAR(h[i], sigmoid(x(3) + s(3)) * std::tanh(c), 4e-6);
    }
  }

 private:
  uint32_t gates() const { return lstm_ ? 4 : 3; }

  uint32_t width_ = 0;
  bool lstm_ = false, ssru_ = false;
  Guarded x_, s_, c_, h_, c_now_, h_now_;
};

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_ROW_CASES_H_
