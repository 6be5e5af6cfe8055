// The results of ONNX operators for small tensors, and for rows.
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <vector>

#include "onnx/host_tensor.h"
#include "onnx/row_functions.h"

namespace bantam::convert::onnx {
namespace {

TEST(OnnxRowFunctions, KnowsActivationsByWhatTheyGive) {
  RowFunctions f;
  const int32_t x = f.rows(0, 6);
  // x * 0.5 * (1 + erf(x / sqrt(2))), after a bias.
  const int32_t biased = f.apply("Add", x, f.vector({1, 2, 3, 4, 5, 6}, "bias"));
  const int32_t erf = f.apply("Erf", f.apply("Div", biased, f.scalar(1.4142135381698608)));
  const int32_t gelu = f.apply("Mul", f.apply("Mul", biased, f.apply("Add", erf, f.scalar(1))), f.scalar(0.5));
  const auto stages = f.recognise(gelu);
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->size(), 2u);
  EXPECT_EQ((*stages)[0].beta_name, "bias");
  EXPECT_EQ((*stages)[1].activation, fb::ActivationKind::gelu);
  const auto silu = f.recognise(f.apply("Mul", x, f.apply("Sigmoid", x)));
  ASSERT_TRUE(silu);
  EXPECT_EQ(silu->front().activation, fb::ActivationKind::silu);
  EXPECT_FALSE(f.recognise(f.apply("Mul", x, f.apply("Tanh", x))));
  EXPECT_TRUE(f.recognise(x)->empty());
}

TEST(OnnxRowFunctions, KnowsNormsWithTheirEpsilon) {
  RowFunctions f;
  const int32_t x = f.rows(0, 4);
  const int32_t centred = f.apply("Sub", x, f.apply("ReduceMean", x));
  const auto norm = [&](double epsilon) {
    const int32_t variance = f.apply("ReduceMean", f.apply("Pow", centred, f.scalar(2)));
    const int32_t root = f.apply("Sqrt", f.apply("Add", variance, f.scalar(epsilon)));
    return f.apply("Add", f.apply("Mul", f.apply("Div", centred, root), f.vector({1, 2, 3, 4}, "g")),
                   f.vector({5, 6, 7, 8}, "b"));
  };
  for (const double epsilon : {1e-12, 1e-5}) {
    const auto stages = f.recognise(norm(epsilon));
    ASSERT_TRUE(stages);
    ASSERT_EQ(stages->size(), 1u);
    EXPECT_EQ(stages->front().norm, fb::NormKind::layer);
    EXPECT_EQ(stages->front().epsilon, epsilon);
    EXPECT_EQ(stages->front().gamma_name, "g");
    EXPECT_EQ(stages->front().beta_name, "b");
  }
  // Divided by the variance instead of its square root.
  const int32_t variance = f.apply("ReduceMean", f.apply("Mul", centred, centred));
  EXPECT_FALSE(f.recognise(f.apply("Div", centred, variance)));
}

TEST(OnnxRowFunctions, KnowsNormsOfGroupsOfColumns) {
  RowFunctions f;
  const int32_t x = f.rows(0, 6);
  const auto norm = [&](size_t group, size_t factors) {
    const int32_t mean = f.apply("ReduceMean", f.apply("Mul", x, x), -1, group);
    const int32_t root = f.apply("Sqrt", f.apply("Add", mean, f.scalar(1e-6)));
    return f.apply("Mul", f.apply("Div", x, root), f.vector({1, 2, 3}, "g", factors));
  };
  const auto stages = f.recognise(norm(3, 3));
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->size(), 1u);
  EXPECT_EQ(stages->front().group, 3u);
  EXPECT_EQ(stages->front().norm, fb::NormKind::rms);
  EXPECT_EQ(stages->front().gamma, (std::vector<float>{1, 2, 3}));
  // A norm of all columns with factors for groups becomes two consecutive stages.
  const auto both = f.recognise(norm(0, 3));
  ASSERT_TRUE(both);
  ASSERT_EQ(both->size(), 2u);
  EXPECT_EQ((*both)[0].group, 0u);
  EXPECT_EQ((*both)[1].group, 3u);
}

TEST(OnnxInterpreter, ReadsAxesAsAttributesAndAsInputs) {
  const HostTensor x = host_floats({2, 3}, {1, 2, 3, 4, 5, 6});
  Node old, now;
  old.op = now.op = "ReduceSum";
  old.attributes["axes"].ints = {1};
  const HostTensor axes = host_integers({1});
  EXPECT_EQ(run_node(old, {&x}, 11).front().floats, (std::vector<double>{6, 15}));
  EXPECT_EQ(run_node(now, {&x, &axes}, 13).front().floats, (std::vector<double>{6, 15}));
  now.op = "Unsqueeze";
  EXPECT_EQ(run_node(now, {&x, &axes}, 13).front().dims, (std::vector<int64_t>{2, 1, 3}));
}

TEST(OnnxInterpreter, ProjectsTablesAsFilesDo) {
  Node node;
  node.op = "LayerNormalization";
  const HostTensor x = host_floats({2, 2}, {1, 3, -2, 2}), gamma = host_floats({2}, {2, 3}),
                   beta = host_floats({2}, {0, 1});
  const std::vector<double> normed = run_node(node, {&x, &gamma, &beta}, 17).front().floats;
  EXPECT_NEAR(normed[0], -2, 1e-4);
  EXPECT_NEAR(normed[3], 4, 1e-4);
  node.op = "DynamicQuantizeLinear";
  const auto made = run_node(node, {&x}, 17);
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[0].ints, (std::vector<int64_t>{153, 255, 0, 204}));
  EXPECT_NEAR(made[1].at(0), 5.0 / 255, 1e-6);
  EXPECT_EQ(made[2].integer(0), 102);
  node.op = "MatMulInteger";
  HostTensor b = host_integers({1, 0, 0, 1}), zeros = host_integers({1, 2});
  b.dims = {2, 2};
  EXPECT_EQ(run_node(node, {&made[0], &b, &made[2]}, 17).front().ints, (std::vector<int64_t>{51, 153, -102, 102}));
  EXPECT_THROW(run_node(node, {&made[0], &b, &made[2], &zeros}, 17), std::exception);
}

TEST(OnnxInterpreter, SplitsByParts) {
  Node node;
  node.op = "Split";
  node.outputs = {"a", "b"};
  node.attributes["axis"].i = 1;
  const HostTensor x = host_integers({1, 2, 3, 4, 5, 6});
  HostTensor rows = x;
  rows.dims = {2, 3};
  const auto halves = run_node(node, {&rows}, 18);  // in equal parts, of which the last is smaller
  ASSERT_EQ(halves.size(), 2u);
  EXPECT_EQ(halves[0].ints, (std::vector<int64_t>{1, 2, 4, 5}));
  EXPECT_EQ(halves[1].dims, (std::vector<int64_t>{2, 1}));
  const HostTensor parts = host_integers({1, 2}), more = host_integers({2, 2});
  EXPECT_EQ(run_node(node, {&rows, &parts}, 18)[1].ints, (std::vector<int64_t>{2, 3, 5, 6}));
  EXPECT_THROW(run_node(node, {&rows, &more}, 18), std::exception);
}

TEST(OnnxInterpreter, ThrowsWhereShapesAreAbsurd) {
  Node node;
  node.op = "ConstantOfShape";
  const HostTensor huge = host_integers({int64_t{1} << 40, int64_t{1} << 40}), below = host_integers({-5});
  EXPECT_THROW(run_node(node, {&huge}, 17), std::exception);
  EXPECT_THROW(run_node(node, {&below}, 17), std::exception);
  node.op = "Gather";
  const HostTensor x = host_floats({2}, {1, 2}), index = host_integers({2});
  EXPECT_THROW(run_node(node, {&x, &index}, 17), std::exception);
  node.op = "Div";
  const HostTensor zero = host_integers({0});
  EXPECT_THROW(run_node(node, {&index, &zero}, 17), std::exception);
}

}  // namespace
}  // namespace bantam::convert::onnx
