// The soft fma against the library's, and the errors that generic/math.h states, measured over dense sweeps against
// libm in double.
#define BANTAM_KERNEL_NAMESPACE math_test
#include <gtest/gtest.h>

#include "kernels/generic/soft_float.h"
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

void check_fma(float a, float b, float c) {
  const float expected = std::fma(a, b, c);
  const float got = math_test::soft_fma(a, b, c);
  if (std::isnan(expected)) {
    ASSERT_TRUE(std::isnan(got));
  } else {
    ASSERT_EQ(bits_of(got), bits_of(expected)) << std::hexfloat << a << " * " << b << " + " << c;
  }
}

TEST(SoftFma, EqualsTheLibrary) {
  Random random(1);
  for (int i = 0; i < 2000000; ++i) {
    // Any bits at all; then values whose sum cancels or whose product lies near the rounding limit of c.
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

struct Measured {
  double absolute = 0;  // largest |error| / max(1, |x|)
  double relative = 0;  // largest |error / value| where the value is not below the normal numbers
};

/// The activation on `count` points of [low, high], by tail_rows of `t`.
Measured sweep(const Table& t, Activation activation, double low, double high, uint32_t count) {
  const uint32_t width = 4096;
  Measured worst;
  Guarded x(width * 4), y(width * 4);
  for (uint32_t done = 0; done < count; done += width) {
    for (uint32_t i = 0; i < width; ++i)
      x.as<float>()[i] = static_cast<float>(low + (high - low) * std::fmin(done + i, count) / count);
    TailRows a{};
    a.x = x.as<float>();
    a.y = y.as<float>();
    a.x_stride = a.y_stride = width;
    a.rows = 1;
    a.width = width;
    a.activation = activation;
    EXPECT_TRUE(t.tail_rows(a));
    for (uint32_t i = 0; i < width; ++i) {
      const double v = x.as<float>()[i];
      const double expected = naive_activation(activation, v);
      const double error = std::fabs(y.as<float>()[i] - expected);
      worst.absolute = std::fmax(worst.absolute, error / std::fmax(1.0, std::fabs(v)));
      if (std::fabs(expected) > 1.2e-38) worst.relative = std::fmax(worst.relative, error / std::fabs(expected));
    }
  }
  return worst;
}

TEST(Math, ErrorsAreAsStated) {
  for (const Table* t : tables()) {
    const uint32_t count = t->isa == Isa::kReference ? 100000 : 1000000;
    SCOPED_TRACE(isa_name(t->isa));
    const auto report = [&](const char* name, const Measured& m) {
      RecordProperty(name, std::to_string(m.relative) + " relative, " + std::to_string(m.absolute) + " absolute");
      std::printf("%-14s %-12s relative %.2e absolute %.2e\n", isa_name(t->isa), name, m.relative, m.absolute);
      return m;
    };
    EXPECT_LE(report("exp", sweep(*t, Activation::kExp, -87, 88, count)).relative, 2e-7);
    EXPECT_LE(report("sigmoid", sweep(*t, Activation::kSigmoid, -86.9, 100, count)).relative, 4e-7);
    EXPECT_LE(report("tanh", sweep(*t, Activation::kTanh, -20, 20, count)).relative, 4e-7);
    EXPECT_LE(report("tanh near 0", sweep(*t, Activation::kTanh, -0.7, 0.7, count)).relative, 4e-7);
    EXPECT_LE(report("gelu", sweep(*t, Activation::kGelu, -30, 30, count)).absolute, 4e-7);
    EXPECT_LE(report("gelu near 0", sweep(*t, Activation::kGelu, -1, 1, count)).absolute, 4e-7);
    EXPECT_LE(report("gelu_tanh", sweep(*t, Activation::kGeluTanh, -30, 30, count)).absolute, 1e-6);
    EXPECT_LE(report("silu", sweep(*t, Activation::kSilu, -80, 80, count)).absolute, 1e-6);
    EXPECT_LE(report("quick_gelu", sweep(*t, Activation::kQuickGelu, -40, 40, count)).absolute, 1e-6);
    EXPECT_LE(report("relu", sweep(*t, Activation::kRelu, -40, 40, count)).absolute, 0.0);
    EXPECT_LE(report("relu_squared", sweep(*t, Activation::kReluSquared, -40, 40, count)).relative, 1e-7);
  }
}

}  // namespace
}  // namespace bantam::kernels::test
