// Compares the software fma with the library's, and the errors stated in generic/math.h with libm in double precision.
#define BANTAM_KERNEL_NAMESPACE math_test
#include <gtest/gtest.h>

#include "kernels/reference/vector.h"
// vector.h must be included before math.h.
#include "kernels/generic/math.h"
#include "tests/exhaustive.h"
#include "tests/kernels/naive.h"
#include "tests/kernels/support.h"

namespace bantam::kernels::test {
namespace {

float float_of(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
uint32_t bits_of(float f) {
  uint32_t b;
  std::memcpy(&b, &f, 4);
  return b;
}

#if defined(_WIN32)
/// The processor's: mingw-w64's fmaf() rounds twice.
__attribute__((target("fma"))) float library_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
float library_fma(float a, float b, float c) { return std::fma(a, b, c); }
#endif

void check_fma(float a, float b, float c) {
  const float expected = library_fma(a, b, c);
  const float ways[] = {
    math_test::soft_fma(a, b, c),
#if BANTAM_KERNEL_DOUBLES
    math_test::double_fma(a, b, c),
#endif
  };
  for (const float got : ways) {
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got));
    } else {
      ASSERT_EQ(bits_of(got), bits_of(expected)) << std::hexfloat << a << " * " << b << " + " << c;
    }
  }
}

TEST(SoftFma, EqualsTheLibrary) {
  Random random(1);
  for (int i = 0; i < 2000000; ++i) {
    // First arbitrary bits; then values whose sum cancels, or whose product is close to the rounding limit of c.
    uint32_t a = static_cast<uint32_t>(random.next());
    uint32_t b = static_cast<uint32_t>(random.next());
    uint32_t c = static_cast<uint32_t>(random.next());
    if (i % 4 != 0) {
      const uint32_t exponent = random.between(1, 253);
      a = (a & 0x807fffffu) | (exponent << 23);
      b = (b & 0x807fffffu) | (random.between(1, 254) << 23);
      const float product = float_of(a) * float_of(b);
      const int32_t shift = static_cast<int32_t>(random.between(0, 60)) - 30;
      c = bits_of(std::ldexp(i % 4 == 1 ? -product : product, i % 4 == 3 ? shift : 0)) + random.between(0, 3);
      if (i % 16 == 1) a &= 0xfffff000u;
    }
    check_fma(float_of(a), float_of(b), float_of(c));
    if (HasFatalFailure()) return;
  }
}

TEST(SoftFma, CornerCases) {
  const uint32_t corners[] = {0,           0x80000000u, 1,           0x80000001u, 0x007fffffu, 0x00800000u, 0x3f800000u,
                              0xbf800000u, 0x3f800001u, 0x7f7fffffu, 0xff7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u,
                              0x33800000u, 0x33000000u, 0x33800001u, 0x34000000u, 0x1f800000u, 0x20000000u};
  for (uint32_t a : corners) {
    for (uint32_t b : corners) {
      for (uint32_t c : corners) check_fma(float_of(a), float_of(b), float_of(c));
    }
  }
}

/// A bound that generic/math.h states for a function, checked against libm in double precision.
struct Function {
  const char* name;
  Activation activation;
  float low, high;  // the range in which the error is relative, if it is stated so
  bool relative;
  double bound;  // of the relative error; otherwise of the error divided by max(1, |x|), for every finite x
};

constexpr float kMost = 3.4028235e38f;
constexpr Function kFunctions[] = {
    {"exp", Activation::kExp, -87.0f, 88.0f, true, 2e-7},
    {"sigmoid", Activation::kSigmoid, -87.0f, kMost, true, 4e-7},
    {"tanh", Activation::kTanh, -kMost, kMost, true, 4e-7},
    {"gelu", Activation::kGelu, -kMost, kMost, false, 4e-7},
    {"gelu_tanh", Activation::kGeluTanh, -kMost, kMost, false, 1e-6},
    {"silu", Activation::kSilu, -kMost, kMost, false, 1e-6},
    {"quick_gelu", Activation::kQuickGelu, -kMost, kMost, false, 1e-6},
    {"relu", Activation::kRelu, -kMost, kMost, false, 0},
    {"relu_squared", Activation::kReluSquared, -1e19f, 1e19f, true, 1e-7},
    {"softplus", Activation::kSoftplus, -87.0f, kMost, true, 1e-6},
};

/// Returns floats of both signs in [low, high]. Those with a magnitude in [2^-30, 128) matter: all of them with
/// `every`, otherwise several thousand per binade and all near its ends. Below this range, functions equal their first
/// terms; above, their limits.
std::vector<uint32_t> next_floats(const Function& f, uint64_t* position, bool every, size_t most) {
  constexpr uint32_t kEdge = 64, kBinade = 1u << 23;
#ifdef BANTAM_EMULATED
  constexpr uint32_t kStep = 8 * 1021;
#else
  constexpr uint32_t kStep = 1021;
#endif
  std::vector<uint32_t> found;
  for (; *position < uint64_t{1} << 32 && found.size() < most;) {
    const auto bits = static_cast<uint32_t>(*position);
    const float x = float_of(bits);
    if (x >= f.low && x <= f.high) found.push_back(bits);
    const uint32_t exponent = bits >> 23 & 0xffu;
    const uint32_t at = bits % kBinade;
    const bool dense = (every && exponent >= 127 - 30 && exponent < 127 + 7) || at < kEdge || at >= kBinade - kEdge;
    const uint32_t stop = kBinade - kEdge;
    if (exponent == 255) {
      *position = (*position >> 31 << 31) + (uint64_t{1} << 31);
    } else {
      *position += dense ? 1 : at + kStep < stop ? kStep : stop - at;
    }
  }
  return found;
}

std::vector<float> activate(const Table& t, Activation activation, const std::vector<float>& x) {
  std::vector<float> y(pad16(static_cast<uint32_t>(x.size())), 0.0f);
  std::vector<float> padded = x;
  padded.resize(y.size(), 0.0f);
  EpilogueRows a{};
  a.x = padded.data();
  a.y = y.data();
  a.x_stride = a.y_stride = y.size();
  a.rows = 1;
  a.width = static_cast<uint32_t>(x.size());
  a.activation = activation;
  EXPECT_TRUE(t.epilogue_rows(a));
  y.resize(x.size());
  return y;
}

/// Returns the error as the function's bound defines it.
double error_of(const Function& f, float x, float y) {
  const double expected = naive_activation(f.activation, double{x});
  const double error = std::fabs(double{y} - expected);
  if (!f.relative) return error / std::fmax(1.0, std::fabs(double{x}));
  // Results below the normal numbers have fewer digits.
  return error / std::fmax(std::fabs(expected), 1.2e-38);
}

class EveryFloat : public ::testing::TestWithParam<Function> {};

/// With BANTAM_EXHAUSTIVE set (./dev test all), takes a minute or two.
TEST_P(EveryFloat, ErrorIsAsStated) {
  const Function& f = GetParam();
  const bool every = bantam::testing::exhaustive();
  const Table& best = *table(Isa::kAuto);
  double worst = 0;
  float worst_at = 0;
  uint64_t position = 0, count = 0;
  for (uint32_t chunk = 0;; ++chunk) {
    const std::vector<uint32_t> patterns = next_floats(f, &position, every, 4096);
    if (patterns.empty()) break;
    std::vector<float> x;
    x.reserve(patterns.size());
    for (const uint32_t bits : patterns) x.push_back(float_of(bits));
    const std::vector<float> y = activate(best, f.activation, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = error_of(f, x[i], y[i]);
      if (error <= worst) continue;  // a NaN is not skipped
      worst = error;
      worst_at = x[i];
    }
    count += x.size();
    if (chunk % 16 != 0) continue;  // the reference is slow
    for (const Table* t : tables()) {
      const std::vector<float> same = activate(*t, f.activation, x);
      ASSERT_EQ(std::memcmp(same.data(), y.data(), y.size() * sizeof(float)), 0) << isa_name(t->isa);
    }
  }
  std::printf("%-14s %11llu floats, largest error %.3e at %a\n", f.name, static_cast<unsigned long long>(count), worst,
              double{worst_at});
  EXPECT_GT(count, 100000u);
  EXPECT_LE(worst, f.bound);
}

INSTANTIATE_TEST_SUITE_P(Functions, EveryFloat, ::testing::ValuesIn(kFunctions),
                         [](const auto& one) { return one.param.name; });

/// The function from which int8 attention computes probabilities; the kernels' property tests check that every table
/// gives the same bits.
TEST(Math, Exp2OfScores) {
  const bool every = bantam::testing::exhaustive();
  const Function range = {"exp2", Activation::kNone, -126.0f, 1.0f, true, 3e-6};
  double worst = 0;
  uint64_t position = 0;
  for (;;) {
    std::vector<uint32_t> found = next_floats(range, &position, every, 65536);
    if (found.empty()) break;
    for (uint32_t bits : found) {
      const double expected = std::exp2(double{float_of(bits)});
      const double y = math_test::exp2_of_score(float_of(bits));
      worst = std::fmax(worst, std::fabs(y - expected) / expected);
    }
  }
  EXPECT_LE(worst, range.bound);
  EXPECT_GT(worst, 0.0);
  std::printf("exp2 of scores: relative %.3e\n", worst);
  EXPECT_EQ(math_test::exp2_of_score(-1e30f), 0.0f);
  EXPECT_EQ(math_test::exp2_of_score(-128.0f), 0.0f);
}

TEST(Math, FunctionsEndAtTheirLimits) {
  const struct {
    Activation activation;
    float x, y;
  } cases[] = {
      {Activation::kExp, -87.01f, 0},        {Activation::kExp, -kMost, 0},     {Activation::kSigmoid, -87.5f, 0},
      {Activation::kSigmoid, -kMost, 0},     {Activation::kSigmoid, kMost, 1},  {Activation::kTanh, kMost, 1},
      {Activation::kTanh, -kMost, -1},       {Activation::kGelu, 5.36f, 5.36f}, {Activation::kGelu, kMost, kMost},
      {Activation::kGelu, -5.36f, 0},        {Activation::kGelu, -kMost, 0},    {Activation::kGeluTanh, 20.0f, 20.0f},
      {Activation::kQuickGelu, 90.0f, 90.0f}};
  for (const Table* t : tables()) {
    for (const auto& c : cases) {
      EXPECT_EQ(activate(*t, c.activation, {c.x})[0], c.y) << isa_name(t->isa) << " " << c.x;
    }
  }
}

}  // namespace
}  // namespace bantam::kernels::test
