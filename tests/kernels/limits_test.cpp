// Dispatch, extreme and non-finite values.
#include <gtest/gtest.h>

#include <limits>

#include "tests/kernels/attention_cases.h"
#include "tests/kernels/row_cases.h"

namespace bantam::kernels::test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Dispatch, NamesAndTablesAgree) {
  ASSERT_NE(table(Isa::kReference), nullptr);
  ASSERT_NE(table(Isa::kAuto), nullptr);
  EXPECT_EQ(table(Isa::kAuto), tables().back());
  for (const Isa isa : testing::every_isa()) {
    const std::string name = isa_name(isa);
    Isa parsed = Isa::kAuto;
    ASSERT_TRUE(isa_parse({name.data(), name.size()}, &parsed));
    EXPECT_EQ(parsed, isa);
    EXPECT_EQ(isa_available(isa), table(isa) != nullptr);
    if (table(isa) != nullptr) {
      EXPECT_EQ(table(isa)->isa, isa);
    }
  }
  Isa parsed = Isa::kAvx2;
  EXPECT_TRUE(isa_parse({"auto", 4}, &parsed));
  EXPECT_EQ(parsed, Isa::kAuto);
  EXPECT_FALSE(isa_parse({"avx", 3}, &parsed));
  EXPECT_FALSE(isa_parse({"", 0}, &parsed));
}

// The largest k that the file format allows, with all values -127 or +127: the sum just fits int32.
TEST(Limits, LinearQ8AtTheLargestK) {
  const uint32_t k = 133144;
  Guarded x(2 * size_t{k});
  Guarded w(16 * size_t{k});
  Guarded sums(64);
  Guarded scales(64);
  Guarded y(2 * 64);
  std::memset(w.data(), 0x81, w.size());
  for (int o = 0; o < 16; ++o) sums.as<int32_t>()[o] = -127 * 133144;
  for (int o = 0; o < 16; ++o) scales.as<float>()[o] = 1.0f;
  for (const Table* t : tables()) {
    for (uint32_t i = 0; i < 2 * k; ++i) x.data()[i] = static_cast<uint8_t>((i < k ? 0x81 : 0x7f) ^ t->offset_xor);
    const LinearQ8 a{x.as<int8_t>(),
                     k,
                     scales.as<float>(),
                     2,
                     w.as<int8_t>(),
                     scales.as<float>(),
                     sums.as<int32_t>(),
                     nullptr,
                     k,
                     16,
                     Activation::kNone,
                     y.as<float>(),
                     16,
                     nullptr};
    ASSERT_TRUE(t->linear_q8(a));
    for (int o = 0; o < 16; ++o) {
      EXPECT_EQ(y.as<float>()[o], static_cast<float>(127 * 127 * 133144)) << isa_name(t->isa);
      EXPECT_EQ(y.as<float>()[16 + o], static_cast<float>(-127 * 127 * 133144)) << isa_name(t->isa);
    }
  }
}

TEST(Limits, LinearReportsOverflow) {
  for (const Table* t : tables()) {
    Guarded x(64), w(64 * 16), bias(64), y(64);
    for (int i = 0; i < 16; ++i) x.as<float>()[i] = 1e38f;
    for (int i = 0; i < 256; ++i) w.as<float>()[i] = i % 16 == 3 ? 1.0f : 0.0f;
    const LinearF32 a{x.as<float>(), 16, 1, w.data(), Element::kF32, nullptr, 16, 16, Activation::kNone,
                      y.as<float>(), 16};
    EXPECT_FALSE(t->linear_f32(a)) << isa_name(t->isa);
    x.as<float>()[0] = 1.0f;
    for (int i = 1; i < 16; ++i) x.as<float>()[i] = 0.0f;
    EXPECT_TRUE(t->linear_f32(a)) << isa_name(t->isa);
    x.as<float>()[5] = kNaN;
    EXPECT_FALSE(t->linear_f32(a)) << isa_name(t->isa);
  }
}

// A NaN or an infinity in any column is detected with every activation and norm; one in the padding is ignored.
TEST(Limits, EpilogueRowsNoticeNonFiniteValues) {
  const uint32_t width = 37;
  for (const Table* t : tables()) {
    for (int norm = 0; norm < 4; ++norm) {
      for (float bad : {kNaN, kInfinity, -kInfinity}) {
        for (uint32_t column : {0u, 16u, 36u, 37u, 47u}) {
          Guarded x(48 * 4), y(48 * 4), q(48), scale(4);
          for (uint32_t i = 0; i < 48; ++i) x.as<float>()[i] = static_cast<float>(i) * 0.1f;
          x.as<float>()[column] = bad;
          EpilogueRows a{};
          a.x = x.as<float>();
          a.x_stride = a.y_stride = a.q_stride = 48;
          a.rows = 1;
          a.width = width;
          a.norm = static_cast<Norm>(norm);
          a.epsilon = 1e-5f;
          a.y = y.as<float>();
          EXPECT_EQ(t->epilogue_rows(a), column >= width)
              << isa_name(t->isa) << " norm " << norm << " column " << column;
          a.y = nullptr;
          a.q = q.as<int8_t>();
          a.q_scale = scale.as<float>();
          EXPECT_EQ(t->epilogue_rows(a), column >= width)
              << isa_name(t->isa) << " norm " << norm << " column " << column;
        }
      }
    }
    for (int activation = 0; activation <= 9; ++activation) {
      Guarded x(64), y(64);
      for (uint32_t i = 0; i < 16; ++i) x.as<float>()[i] = i == 7 ? kNaN : 1.0f;
      EpilogueRows a{};
      a.x = x.as<float>();
      a.x_stride = a.y_stride = 16;
      a.rows = 1;
      a.width = 16;
      a.activation = static_cast<Activation>(activation);
      a.y = y.as<float>();
      EXPECT_FALSE(t->epilogue_rows(a)) << isa_name(t->isa) << " activation " << activation;
    }
  }
}

TEST(Limits, OthersNoticeNonFiniteValues) {
  for (const Table* t : tables()) {
    for (float bad : {kNaN, kInfinity}) {
      Guarded x(64 * 3), y(64), pooled(64 * 3), keys(4096), values(4096), scale(64);
      for (uint32_t i = 0; i < 48; ++i) x.as<float>()[i] = i == 40 ? bad : 0.5f;
      EXPECT_FALSE(
          t->pool_rows({x.as<float>(), nullptr, nullptr, 48, 0, 1, 41, Pool::kMean, false, pooled.as<float>()}))
          << isa_name(t->isa);
      for (bool q8 : {false, true}) {
        EXPECT_FALSE(t->split_heads(
            {{}, x.as<float>(), 48, 0, 1, 1, 1, 16, q8, y.data(), 16, scale.as<float>(), keys.data(), values.data()}))
            << isa_name(t->isa);
      }
      const int32_t index = 0;
      const EmbedSource source{x.data(), Element::kF32, false, 48, nullptr, 1.0f, &index};
      EXPECT_FALSE(t->embed_rows({&source, 1, 1, 48, keys.as<float>(), 48})) << isa_name(t->isa);
      Guarded gates(64 * 12), state(64 * 3), cells(64 * 3);
      for (uint32_t i = 0; i < 48; ++i) cells.as<float>()[i] = state.as<float>()[i] = i == 41 ? bad : 0.5f;
      const RecurrentRow lstm{gates.as<float>(), gates.as<float>(), 41, cells.as<float>(), state.as<float>()};
      EXPECT_TRUE(t->recurrent_row(lstm)) << isa_name(t->isa);
      cells.as<float>()[40] = state.as<float>()[40] = bad;
      EXPECT_FALSE(t->recurrent_row(lstm)) << isa_name(t->isa);
      state.as<float>()[40] = bad;
      EXPECT_FALSE(t->recurrent_row({gates.as<float>(), gates.as<float>(), 41, nullptr, state.as<float>()}))
          << isa_name(t->isa);
      state.as<float>()[40] = bad;
      EXPECT_FALSE(t->recurrent_row({gates.as<float>(), nullptr, 41, nullptr, state.as<float>()})) << isa_name(t->isa);
      Guarded zeros_of_scan(64 * 6), states(64 * 6);  // two states of 41 numbers
      const float* zero = zeros_of_scan.as<float>();
      std::memset(zeros_of_scan.data(), 0, zeros_of_scan.size());
      for (const uint32_t kind : {0U, 1U, 2U}) {  // selective, gated with a state, weighted with two
        const float* factor = kind == 0 ? zero : nullptr;
        cells.as<float>()[40] = 0.5f;
        const ScanRow good{
            cells.as<float>(),  zero, zero, factor, factor, nullptr, zero, states.as<float>(), state.as<float>(), 41,
            kind == 2 ? 2U : 1U};
        EXPECT_TRUE(t->scan_row(good)) << isa_name(t->isa);
        cells.as<float>()[40] = bad;
        EXPECT_FALSE(t->scan_row(good)) << isa_name(t->isa);
      }
      const uint32_t rows[] = {0, 0};
      float scores[2];
      EXPECT_FALSE(t->span_scores({x.as<float>(), keys.as<float>(), 41, keys.as<float>(), 48, rows, 2, scores}))
          << isa_name(t->isa);
      for (const bool additive : {false, true}) {
        Guarded weights(align_scratch_floats(1) * sizeof(float)), zeros(64 * 3);
        const float* v = additive ? zeros.as<float>() : nullptr;
        const float *bad_row = x.as<float>(), *row = zeros.as<float>();
        float *w = weights.as<float>(), *mean = pooled.as<float>();
        EXPECT_TRUE(t->align_row({row, row, 48, v, 41, 1, row, 48, 41, 1, 0, 0, w, mean})) << isa_name(t->isa);
        EXPECT_FALSE(t->align_row({row, row, 48, v, 41, 1, bad_row, 48, 41, 1, 0, 0, w, mean})) << isa_name(t->isa);
        const float* spoiled = additive ? bad_row : nullptr;
        EXPECT_FALSE(t->align_row({bad_row, row, 48, spoiled, 41, 1, row, 48, 41, 1, 0, 0, w, mean}))
            << isa_name(t->isa);
      }
      EXPECT_FALSE(t->softmax_rows({x.as<float>(), 48, 1, 41})) << isa_name(t->isa);
      for (const bool of_keys : {false, true}) {
        float most = 0, kept = 0, sum = 0;
        const auto features = [&](float product, const float* squared, const float* weights) {
          Guarded products(64 * 3), squared_rows(64 * 3);
          for (uint32_t i = 0; i < 48; ++i)
            products.as<float>()[i] = squared_rows.as<float>()[i] = i == 41 ? bad : 0.5f;
          products.as<float>()[40] = product;
          if (squared != nullptr) squared_rows.as<float>()[40] = *squared;
          return t->feature_rows({products.as<float>(), 48, 1, 41,
                                  squared == nullptr ? nullptr : squared_rows.as<float>(), 48, 41, 0,
                                  of_keys ? &most : nullptr, of_keys ? &kept : nullptr, weights, &sum});
        };
        const float sound = 0.5f;
        EXPECT_TRUE(features(sound, nullptr, nullptr)) << isa_name(t->isa);
        EXPECT_TRUE(features(sound, &sound, nullptr)) << isa_name(t->isa);
        EXPECT_FALSE(features(bad, &sound, nullptr)) << isa_name(t->isa);
        EXPECT_FALSE(features(sound, &sound, x.as<float>())) << isa_name(t->isa);
        const bool infinite = bad == bad;  // its features are 0
        EXPECT_EQ(features(sound, &bad, nullptr), infinite) << isa_name(t->isa);
      }
      Guarded summed(64 * 2), ones(64);
      for (uint32_t i = 0; i < 16; ++i) {
        summed.as<float>()[i] = summed.as<float>()[16 + i] = ones.as<float>()[i] = 1;
      }
      const float factors[] = {1, bad};
      EXPECT_TRUE(t->outer_sums({factors, 1, ones.as<float>(), 16, 1, 1, 16, 1, summed.as<float>()}));
      EXPECT_FALSE(t->outer_sums({factors, 2, ones.as<float>(), 16, 1, 2, 16, 1, summed.as<float>()}));
    }
  }
}

// A NaN among the queries, keys or values of f32 attention, or among the scales of int8 attention, is detected.
TEST(Limits, AttentionNoticesNonFiniteValues) {
  const HeadsShape f32{1, 1, 20, false, 5, {18}};
  const HeadsShape q8{1, 1, 20, true, 5, {18}};
  for (const Table* t : tables()) {
    for (const HeadsShape* shape : {&f32, &q8}) {
      for (int spoiled = 0; spoiled < 4; ++spoiled) {
        Case<Attention> c(3, shape);
        ASSERT_TRUE(c.prepare(*t));
        HeadTensors& tensors = c.tensors();
        // Row 7 in page 0, which is both a key of every query and a query.
        const size_t key = shape->q8 ? pad4(20) * 16 + 7 * 4 : 7 * 4;
        const size_t value = shape->q8 ? pad16(20) * 16 + 7 * 4 : size_t{7} * pad16(20) * 4;
        const size_t query = 7 * tensors.q_stride * 4;
        if (spoiled == 1) std::memcpy(tensors.keys.data() + key, &kNaN, 4);
        if (spoiled == 2) std::memcpy(tensors.values.data() + value, &kNaN, 4);
        if (spoiled == 3) std::memcpy(shape->q8 ? tensors.q_scale.data() + 7 * 4 : tensors.q.data() + query, &kNaN, 4);
        EXPECT_EQ(t->attention(c.args(*t)), spoiled == 0) << isa_name(t->isa) << " q8 " << shape->q8 << " " << spoiled;
      }
    }
  }
}

// Every f16 value, including subnormals, as an embedding table of 16 columns.
TEST(Limits, EveryHalfIsExact) {
  Guarded data(65536 * 2);
  Guarded index(4096 * 4);
  for (uint32_t i = 0; i < 65536; ++i) data.as<uint16_t>()[i] = static_cast<uint16_t>(i);
  for (int32_t i = 0; i < 4096; ++i) index.as<int32_t>()[i] = i;
  for (const Table* t : tables()) {
    Guarded y(65536 * 4);
    const EmbedSource source{data.data(), Element::kF16, false, 16, nullptr, 1.0f, index.as<int32_t>()};
    EXPECT_FALSE(t->embed_rows({&source, 1, 4096, 16, y.as<float>(), 16}));
    for (uint32_t i = 0; i < 65536; ++i) {
      const double expected = value_of_half(static_cast<uint16_t>(i));
      const float got = y.as<float>()[i];
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got));
      } else {
        ASSERT_EQ(static_cast<double>(got), expected) << i << " " << isa_name(t->isa);
        ASSERT_EQ(std::signbit(got), std::signbit(expected)) << i;
      }
    }
  }
}

}  // namespace
}  // namespace bantam::kernels::test
