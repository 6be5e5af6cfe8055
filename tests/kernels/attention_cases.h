// Random calls of split_heads, and of attention on its results.
#ifndef BANTAM_TESTS_KERNELS_ATTENTION_CASES_H_
#define BANTAM_TESTS_KERNELS_ATTENTION_CASES_H_

#include <algorithm>

#include "tests/kernels/linear_cases.h"

namespace bantam::kernels::test {

/// Consecutive sequences, starting at row `first_row`.
struct HeadsShape {
  uint32_t heads, kv_heads, head_width;
  bool q8;
  uint32_t first_row;
  std::vector<uint32_t> sequences;

  static HeadsShape random(Random& random) {
    // Kernels process eight heads at a time.
    HeadsShape s{random.chance(75) ? random.between(1, 4) : random.between(5, 19),
                 1,
                 random.chance(40) ? 16 * random.between(1, 5) : random.between(1, 70),
                 random.chance(70),
                 random.chance(50) ? 0 : random.between(0, 40),
                 {}};
    s.kv_heads = random.chance(70) ? s.heads : 1;
    for (uint32_t i = random.between(1, 3); i > 0; --i) {
      s.sequences.push_back(random.chance(80) ? random.between(1, 40) : random.between(1, 150));
    }
    return s;
  }
  static HeadsShape typical(uint32_t rows) { return {12, 12, 32, true, 0, {rows}}; }

  uint32_t rows() const {
    uint32_t total = 0;
    for (uint32_t n : sequences) total += n;
    return total;
  }
  uint32_t columns() const { return (heads + 2 * kv_heads) * head_width; }
  uint32_t end_row() const { return first_row + rows(); }
  uint32_t pages() const { return (end_row() + 15) / 16; }
  size_t key_bytes() const { return key_page_bytes(head_width, q8); }
  size_t value_bytes() const { return value_page_bytes(head_width, q8); }
};

/// The tensors that split_heads fills, initially filled with `garbage`.
struct HeadTensors {
  Guarded q, q_scale, keys, values;
  size_t q_stride = 0;

  HeadTensors() = default;
  HeadTensors(const HeadsShape& s, uint8_t garbage) {
    q_stride = pad16(s.heads * s.head_width);
    q = Guarded((size_t{s.end_row() - 1} * q_stride + size_t{s.heads} * s.head_width) * (s.q8 ? 1 : 4));
    q_scale = Guarded(size_t{s.end_row()} * s.heads * 4);
    keys = Guarded(s.pages() * s.kv_heads * s.key_bytes());
    values = Guarded(s.pages() * s.kv_heads * s.value_bytes());
    for (Guarded* g : {&q, &q_scale, &keys, &values}) std::memset(g->data(), garbage, g->size());
  }
};

template <>
class Case<SplitHeads> {
 public:
  using Shape = HeadsShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const HeadsShape* wanted) {
    Random random(seed);
    shape_ = wanted != nullptr ? *wanted : HeadsShape::random(random);
    x_stride_ = some_stride(random, shape_.columns());
    x_ = make_rows<float>(shape_.rows(), x_stride_, shape_.columns());
    const float scale = random.chance(90) ? 1.0f : 0.0f;
    for (size_t i = 0; i < x_.size() / 4; ++i) x_.as<float>()[i] = random.normal() * scale;
    pieces_ = wanted != nullptr ? 1 : random.between(1, 3);
    if (wanted == nullptr && shape_.head_width > 1 && random.chance(40)) make_angles(random);
  }

  SplitHeads args(const Table&) {
    tensors_ = HeadTensors(shape_, 0xff);
    rotated_ = Guarded(rotary_scratch_bytes(shape_.head_width));
    return {{half_ == 0 ? nullptr : angles_.as<float>(), half_, rotated_.as<float>()},
            x_.as<float>(),
            x_stride_,
            shape_.first_row,
            shape_.rows(),
            shape_.heads,
            shape_.kv_heads,
            shape_.head_width,
            shape_.q8,
            tensors_.q.data(),
            tensors_.q_stride,
            tensors_.q_scale.as<float>(),
            tensors_.keys.data(),
            tensors_.values.data()};
  }

  /// Fills the tensors, sometimes in several calls of at least 16 rows.
  bool fill(const Table& table) {
    SplitHeads a = args(table);
    bool finite = true;
    const uint32_t end = a.row_begin + a.rows;
    const uint32_t piece = pad16(a.rows / pieces_ + 1);
    while (a.row_begin < end) {
      const uint32_t next = (a.row_begin + piece) & ~15u;
      a.rows = (next < end ? next : end) - a.row_begin;
      finite &= table.split_heads(a);
      a.x += a.rows * a.x_stride;
      if (a.rotary != nullptr) a.rotary += size_t{a.rows} * 2 * half_;
      a.row_begin += a.rows;
    }
    return finite;
  }

  Result run(const Table& table) {
    Result result;
    result.finite = fill(table);
    for (uint32_t row = shape_.first_row; row < shape_.end_row(); ++row) {
      for (uint32_t h = 0; h < shape_.heads; ++h) add_query(result, row, h);
      for (uint32_t h = 0; h < shape_.kv_heads; ++h) add_key_value(result, row, h, table.offset_xor);
    }
    return result;
  }

  /// Checks that every value is within half a step of the row's scale.
  void check(const Result& result) const {
    ASSERT_TRUE(result.finite);
    const uint32_t width = shape_.head_width;
    const uint8_t* at = result.bytes.data();
    for (uint32_t r = 0; r < shape_.rows(); ++r) {
      for (uint32_t h = 0; h < shape_.heads + 2 * shape_.kv_heads; ++h) {
        // In the result, values of a head follow its keys.
        const uint32_t g =
            h < shape_.heads ? h : (h - shape_.heads) / 2 + ((h - shape_.heads) % 2) * shape_.kv_heads + shape_.heads;
        const float* x = x_.as<float>() + r * x_stride_ + size_t{g} * width;
        if (!shape_.q8) {
          ASSERT_TRUE(half_ != 0 || std::memcmp(at, x, width * 4) == 0);
          for (uint32_t i = 0; i < width; ++i, at += 4) {
            float stored;
            std::memcpy(&stored, at, 4);
            ASSERT_NEAR(stored, value(r, g * width + i), 1e-6);
          }
          continue;
        }
        float scale;
        std::memcpy(&scale, at + width, 4);
        for (uint32_t i = 0; i < width; ++i) {
          const int8_t v = static_cast<int8_t>(at[i]);
          ASSERT_NEAR(double{scale} * v, value(r, g * width + i), 0.5001 * scale + 1e-6);
        }
        at += width + 4;
      }
    }
    ASSERT_EQ(at, result.bytes.data() + result.bytes.size());
  }

  const HeadsShape& shape() const { return shape_; }
  HeadTensors& tensors() { return tensors_; }
  void set_shape_rows(uint32_t first_row) { shape_.first_row = first_row; }
  /// Returns the value of an element that should be stored.
  double value(uint32_t r, uint32_t column) const {
    const float* x = x_.as<float>() + r * x_stride_;
    const uint32_t i = column % shape_.head_width;
    const bool is_value = column >= (shape_.heads + shape_.kv_heads) * shape_.head_width;
    if (is_value || i >= 2 * half_) return x[column];
    const float* angle = angles_.as<float>() + size_t{r} * 2 * half_;
    const bool low = i < half_;
    const double c = angle[i % half_];
    const double s = angle[half_ + i % half_];
    return low ? x[column] * c - x[column + half_] * s : x[column] * c + x[column - half_] * s;
  }

 private:
  void make_angles(Random& random) {
    half_ = random.chance(50) ? shape_.head_width / 2 : random.between(1, shape_.head_width / 2);
    angles_ = Guarded(size_t{shape_.rows()} * 2 * half_ * 4);
    for (uint32_t r = 0; r < shape_.rows(); ++r) {
      for (uint32_t i = 0; i < half_; ++i) {
        const double angle = random.unit() * 4;
        angles_.as<float>()[(size_t{r} * 2) * half_ + i] = static_cast<float>(std::cos(angle));
        angles_.as<float>()[(size_t{r} * 2 + 1) * half_ + i] = static_cast<float>(std::sin(angle));
      }
    }
  }
  void add_query(Result& result, uint32_t row, uint32_t h) const {
    const size_t at = row * tensors_.q_stride + size_t{h} * shape_.head_width;
    if (!shape_.q8) {
      result.add(tensors_.q.as<float>() + at, shape_.head_width * 4);
      return;
    }
    result.add(tensors_.q.data() + at, shape_.head_width);
    result.add(tensors_.q_scale.as<float>() + row * shape_.heads + h, 4);
  }
  void add_key_value(Result& result, uint32_t row, uint32_t h, uint8_t offset_xor) const {
    const uint32_t width = shape_.head_width;
    const size_t page = size_t{row / 16} * shape_.kv_heads + h;
    const size_t lane = row % 16;
    const uint8_t* key = tensors_.keys.data() + page * shape_.key_bytes();
    const uint8_t* value = tensors_.values.data() + page * shape_.value_bytes();
    if (!shape_.q8) {
      for (uint32_t i = 0; i < width; ++i) result.add(key + size_t{i} * 64 + lane * 4, 4);
      result.add(value + lane * pad16(width) * 4, width * 4);
      return;
    }
    for (uint32_t i = 0; i < width; ++i) result.add_q8(key + (i / 4) * 64 + lane * 4 + i % 4, 1, offset_xor);
    for (uint32_t i = width; i < pad4(width); ++i) EXPECT_EQ(key[(i / 4) * 64 + lane * 4 + i % 4], offset_xor);
    result.add(key + pad4(width) * 16 + lane * 4, 4);
    for (uint32_t i = 0; i < width; ++i)
      result.add(value + (i / 16) * 256 + (lane / 4) * 64 + (i % 16) * 4 + lane % 4, 1);
    result.add(value + pad16(width) * 16 + lane * 4, 4);
  }

  HeadsShape shape_{};
  size_t x_stride_ = 0;
  uint32_t pieces_ = 1;
  uint32_t half_ = 0;  // angles per row; 0: no rotation
  Guarded x_, angles_, rotated_;
  HeadTensors tensors_;
};

template <>
class Case<Attention> {
 public:
  using Shape = HeadsShape;

  explicit Case(uint64_t seed) : Case(seed, nullptr) {}
  Case(uint64_t seed, const HeadsShape* wanted) : split_(seed, wanted) {
    Random random(seed ^ 0x5eed);
    mask_ = wanted != nullptr ? Mask::kNone : static_cast<Mask>(random.between(0, 3));
    window_ = random.between(0, 30);
    step_ = wanted != nullptr ? 64 : random.between(1, 40);
    scale_ = 1.0f / std::sqrt(static_cast<float>(shape().head_width)) * (random.chance(20) ? 20.0f : 1.0f);
    y_stride_ = some_stride(random, shape().heads * shape().head_width);
    if (wanted != nullptr) return;
    sunk_ = Random(seed ^ 0x51c).chance(30);
    scatters_ = Random(seed ^ 0x9a6e5).chance(50) ? seed : 0;
    if (!random.chance(50)) return;
    for (size_t i = size_t{shape().heads} * shape().rows() * shape().rows(); i > 0; --i) {
      biases_.push_back(random.normal() * 3);
    }
    if (random.chance(40)) soft_cap_ = 0.5f + 4 * std::fabs(random.normal());
  }

  /// The sink of a head; some are greater than all scores.
  float sink_of(uint32_t h) const { return static_cast<float>(h % 5) * 2.5f - 4; }

  /// Moves the sequences to other rows, which must not change results.
  void move_to(uint32_t first_row) { split_.set_shape_rows(first_row); }

  /// Fills the tensors that the calls read.
  bool prepare(const Table& table) {
    y_ = make_rows<float>(shape().rows(), y_stride_, size_t{shape().heads} * shape().head_width);
    const bool finite = split_.fill(table);
    if (scatters_ != 0) scatter();
    return finite;
  }

  Attention args(const Table&) {
    return call(0, 0, shape().sequences[0] < step_ ? shape().sequences[0] : step_, 0, shape().sequences[0]);
  }

  Result run(const Table& table) {
    Result result;
    result.finite = prepare(table);
    uint32_t begin = 0;
    for (uint32_t length : shape().sequences) {
      for (uint32_t h = 0; h < shape().heads; ++h) {
        for (uint32_t query = 0; query < length; query += step_) {
          const uint32_t queries = length - query < step_ ? length - query : step_;
          result.finite &= table.attention(call(h, begin + query, queries, begin, begin + length));
        }
      }
      begin += length;
    }
    for (uint32_t r = 0; r < shape().rows(); ++r) {
      result.add(y_.as<float>() + r * y_stride_, size_t{shape().heads} * shape().head_width * 4);
    }
    return result;
  }

  void check(const Result& result) {
    ASSERT_TRUE(result.finite);
    stored_ = stored_values();
    const float* y = reinterpret_cast<const float*>(result.bytes.data());
    uint32_t begin = 0;
    for (uint32_t length : shape().sequences) {
      for (uint32_t h = 0; h < shape().heads; ++h) {
        for (uint32_t q = begin; q < begin + length; ++q) {
          check_query(h, q, begin, begin + length, y + (size_t{q} * shape().heads + h) * shape().head_width);
        }
      }
      begin += length;
    }
  }

  const HeadsShape& shape() const { return split_.shape(); }
  HeadTensors& tensors() { return split_.tensors(); }

 private:
  /// Moves pages to random places, given by a list; some remain adjacent. This must not change results.
  void scatter() {
    Random random(scatters_);
    list_.resize(shape().pages());
    for (uint32_t p = 0; p < list_.size(); ++p) list_[p] = p;
    for (uint32_t swaps = random.between(1, 4); swaps > 0; --swaps) {
      std::swap(list_[random.between(0, shape().pages() - 1)], list_[random.between(0, shape().pages() - 1)]);
    }
    for (Guarded* tensor : {&split_.tensors().keys, &split_.tensors().values}) {
      Guarded moved(tensor->size());
      const size_t page = tensor->size() / list_.size();
      for (size_t p = 0; p < list_.size(); ++p) {
        std::memcpy(moved.data() + list_[p] * page, tensor->data() + p * page, page);
      }
      *tensor = std::move(moved);
    }
  }

  /// Row numbers here are relative to the first row of the first sequence.
  Attention call(uint32_t h, uint32_t query, uint32_t queries, uint32_t begin, uint32_t end) {
    const HeadsShape& s = shape();
    HeadTensors& t = split_.tensors();
    const size_t element = s.q8 ? 1 : 4;
    const uint32_t row = s.first_row + query;
    const uint32_t kv_head = s.kv_heads == 1 ? 0 : h;
    Attention a = {{!biases_.empty(), soft_cap_},
                   {sunk_, sunk_ ? sink_of(h) : 0},
                   {list_.empty() ? nullptr : list_.data()},
                   t.q.data() + (row * t.q_stride + size_t{h} * s.head_width) * element,
                   t.q_stride,
                   t.q_scale.as<float>() + size_t{row} * s.heads + h,
                   s.heads,
                   row,
                   queries,
                   t.keys.data() + kv_head * s.key_bytes(),
                   s.kv_heads * s.key_bytes(),
                   t.values.data() + kv_head * s.value_bytes(),
                   s.kv_heads * s.value_bytes(),
                   s.first_row + begin,
                   s.first_row + end,
                   s.head_width,
                   scale_,
                   mask_,
                   window_,
                   s.q8,
                   y_.as<float>() + query * y_stride_ + size_t{h} * s.head_width,
                   y_stride_,
                   nullptr};
    const Range pages = visible_pages(a);
    const uint32_t all = attention_pages(a.kv_begin, a.kv_end);
    EXPECT_TRUE(pages.end - pages.begin <= most_visible_pages(all, queries, mask_, window_));
    scratch_ = Guarded(attention_scratch_bytes(pages.end - pages.begin, queries));
    a.scratch = scratch_.data();
    float* scores = scratch_.as<float>();
    for (uint32_t i = 0; i < queries && a.biased; ++i) {
      for (uint32_t key = pages.begin * 16; key < pages.end * 16; ++key) {
        const bool inside = key >= a.kv_begin && key < a.kv_end;
        *scores++ = inside ? bias(h, query + i, key - s.first_row) : NAN;
      }
    }
    return a;
  }

  /// Returns the bias for two rows; NaN if the key is masked for the query.
  float bias(uint32_t h, uint32_t query, uint32_t key) const {
    Attention a{};
    a.mask = mask_;
    a.window = window_;
    if (!naive_visible(a, query, key)) return NAN;
    return biases_.empty() ? 0.0f : biases_[(size_t{h} * shape().rows() + query) * shape().rows() + key];
  }

  /// Returns the stored values of all rows and columns: [rows][columns].
  std::vector<double> stored_values() const {
    const uint32_t width = shape().head_width;
    std::vector<double> values(size_t{shape().rows()} * shape().columns());
    for (uint32_t r = 0; r < shape().rows(); ++r) {
      for (uint32_t head = 0; head < shape().columns(); head += width) {
        double largest = 0;
        for (uint32_t i = head; i < head + width; ++i) largest = std::max(largest, std::fabs(split_.value(r, i)));
        for (uint32_t i = head; i < head + width; ++i) {
          const double x = split_.value(r, i);
          const double step = largest / 127;
          values[size_t{r} * shape().columns() + i] = !shape().q8 ? x : step == 0 ? 0 : std::nearbyint(x / step) * step;
        }
      }
    }
    return values;
  }
  double stored(uint32_t r, uint32_t column) const { return stored_[size_t{r} * shape().columns() + column]; }

  void check_query(uint32_t h, uint32_t q, uint32_t begin, uint32_t end, const float* y) {
    const HeadsShape& s = shape();
    const uint32_t width = s.head_width;
    const uint32_t kv_head = s.kv_heads == 1 ? 0 : h;
    const uint32_t key_column = (s.heads + kv_head) * width;
    const uint32_t value_column = (s.heads + s.kv_heads + kv_head) * width;
    Attention a{};
    a.mask = mask_;
    a.window = window_;
    std::vector<uint32_t> keys;
    std::vector<double> p;
    for (uint32_t j = begin; j < end; ++j) {
      if (!naive_visible(a, q, j)) continue;
      double score = 0;
      for (uint32_t i = 0; i < width; ++i) score += stored(q, h * width + i) * stored(j, key_column + i);
      keys.push_back(j);
      score = score * scale_ + bias(h, q, j);
      p.push_back(soft_cap_ == 0 ? score : soft_cap_ * std::tanh(score / soft_cap_));
    }
    if (sunk_ && !p.empty()) p.push_back(sink_of(h));
    naive_softmax(p);
    double largest_weight = 0;
    std::vector<double> scales(keys.size(), 0.0);
    for (size_t i = 0; i < keys.size(); ++i) {
      for (uint32_t d = 0; d < width; ++d)
        scales[i] = std::fmax(scales[i], std::fabs(split_.value(keys[i], value_column + d)));
      largest_weight = std::fmax(largest_weight, p[i] * scales[i]);
    }
    // Half a step of the u8 weights, times values of at most 127 steps each.
    const double error =
        s.q8 ? 0.51 / 255 * largest_weight * static_cast<double>(keys.size()) + 2e-3 * largest_weight : 2e-5;
    for (uint32_t d = 0; d < width; ++d) {
      double expected = 0;
      for (size_t i = 0; i < keys.size(); ++i) expected += p[i] * stored(keys[i], value_column + d);
      ASSERT_NEAR(y[d], expected, error + 1e-6);
    }
  }

  Case<SplitHeads> split_;
  Mask mask_{};
  uint32_t window_ = 0;
  uint32_t step_ = 1;
  float scale_ = 1;
  size_t y_stride_ = 0;
  Guarded y_, scratch_;
  uint64_t scatters_ = 0;  // seed; 0: pages are in order
  std::vector<uint32_t> list_;
  std::vector<float> biases_;  // [heads][rows][rows]; empty: none
  float soft_cap_ = 0;
  bool sunk_ = false;
  std::vector<double> stored_;
};

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_ATTENTION_CASES_H_
