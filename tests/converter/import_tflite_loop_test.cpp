// Loops of TensorFlow Lite: recurrent layers are recognized by the results of the loop's body; everything else is
// refused.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "base/error.h"
#include "onnx/onnx_import.h"
#include "onnx/tflite/tflite.h"
#include "tests/converter/tflite_bytes.h"
#include "tests/converter/tflite_said.h"

namespace bantam::convert {
namespace {

namespace b = tflite_bytes;
using b::fl::BuiltinOperator;

/// Returns the importer's message about a model; "" if the model is read.
std::string said(const std::function<void(b::Model&)>& change, ExitCode code = ExitCode::kUnsupported) {
  return b::said(b::loop_over_words(), change, code);
}

void expect_said(const std::function<void(b::Model&)>& change, const char* says,
                 ExitCode code = ExitCode::kUnsupported) {
  const std::string message = said(change, code);
  EXPECT_NE(message.find(says), std::string::npos) << says << ": " << message;
}

b::Subgraph& body(b::Model& m) { return m.loops[1]; }

TEST(TfliteLoops, AreLstmsByWhatTheyGive) {
  b::Model model = b::loop_over_words();
  const std::string bytes = model.write();
  const onnx::Model read = read_tflite(bytes, "m.tflite");
  const onnx::Node* lstm = nullptr;
  for (const onnx::Node& node : read.graph.nodes) lstm = node.op == "LSTM" ? &node : lstm;
  ASSERT_NE(lstm, nullptr);
  EXPECT_EQ(lstm->integer("hidden_size", 0), 2);
  // ONNX has the gates in the order input, output, forget, cell.
  const onnx::Tensor& rows = read.graph.initializers.at(lstm->input(1));
  std::vector<float> values(rows.elements);
  std::memcpy(values.data(), rows.bytes.data(), rows.bytes.size());
  const std::vector<float> wanted = {1, 4, 2, 3};
  ASSERT_EQ(values.size(), 16u);
  for (size_t gate = 0; gate < 4; ++gate) EXPECT_FLOAT_EQ(values[4 * gate], 0.1F * wanted[gate]);
  const onnx::Tensor& biases = read.graph.initializers.at(lstm->input(3));
  values.resize(biases.elements);
  std::memcpy(values.data(), biases.bytes.data(), biases.bytes.size());
  EXPECT_EQ(values, (std::vector<float>{0, 0.1F, 0.6F, 0.7F, 0.2F, 0.3F, 0.4F, 0.5F, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(said([](b::Model&) {}), "");
}

TEST(TfliteLoops, MayHaveTheirGatesInAnotherOrder) {
  EXPECT_EQ(said([](b::Model& m) { body(m).operators[6].outputs = {18, 20, 17, 19}; }), "");
}

TEST(TfliteLoops, RefusesOtherCells) {
  const char* const neither = "neither an LSTM nor a GRU";
  expect_said([](b::Model& m) { body(m).operators[9].code = BuiltinOperator::LOGISTIC; }, neither);
  expect_said([](b::Model& m) { body(m).operators[13].code = BuiltinOperator::SUB; }, neither);
  expect_said([](b::Model& m) { body(m).operators[15].inputs = {24, 27}; }, neither);
  // A step of two, another token, the previous state.
  expect_said([](b::Model& m) { body(m).tensors[6].data = b::bytes<int32_t>({2}); }, "WHILE");
  expect_said([](b::Model& m) { body(m).operators[2].inputs = {5, 11}; }, "WHILE");
  expect_said(
      [](b::Model& m) {
        body(m).outputs[2] = 2;
        m.operators[3].inputs[0] = 12;
      },
      "cells behind the last token");
  expect_said([](b::Model& m) { body(m).operators[4].inputs = {13, 8}; }, "has no state");
  expect_said([](b::Model& m) { body(m).operators[15].code = BuiltinOperator::SVDF; }, "its body's SVDF");
}

TEST(TfliteLoops, RefusesOtherEndsAndBeginnings) {
  expect_said([](b::Model& m) { m.loops[0].tensors[6].data = b::bytes<int32_t>({3}); }, "at the last token");
  expect_said([](b::Model& m) { m.loops[0].tensors[6].data = b::bytes<int32_t>({5}); }, "at the last token");
  expect_said([](b::Model& m) { m.tensors[7].data = b::bytes<float>({0, 1}); }, "that are not 0");
  expect_said([](b::Model& m) { m.tensors[5].data = b::bytes<int32_t>({1}); }, "that are not 0");
}

TEST(TfliteLoops, RefusesWhatDoesNotFit) {
  expect_said([](b::Model& m) { m.loops.pop_back(); }, "subgraph 2 does not exist", ExitCode::kInvalid);
  expect_said([](b::Model& m) { body(m).outputs.pop_back(); }, "other values than it gives");
  expect_said([](b::Model& m) { m.loops[0].outputs.clear(); }, "other values than it gives");
  expect_said([](b::Model& m) { body(m).outputs[1] = 99; }, "tensor 99 does not exist", ExitCode::kInvalid);
  expect_said([](b::Model& m) { body(m).tensors[7].shape = {4, 4}; }, "WHILE");
  expect_said([](b::Model& m) { body(m).tensors[7].shape = {16}; }, "WHILE");
  expect_said([](b::Model& m) { m.operators[2].inputs[5] = -1; }, "WHILE");
  expect_said([](b::Model& m) { m.operators[2].outputs.pop_back(); }, "WHILE");
  expect_said([](b::Model& m) { body(m).operators[15].inputs = {24, 29}; }, "WHILE");
  expect_said([](b::Model& m) { m.operators[2].kind = b::fl::BuiltinOptions::NONE, m.operators[2].options = 0; },
              "has no body");
  expect_said([](b::Model& m) { m.tensors[4].shape = {1 << 20, 1, 2}; }, "WHILE");
  // A nested loop.
  expect_said(
      [](b::Model& m) {
        body(m).operators.push_back(m.operators[2]);
        body(m).operators.back().inputs = {0, 1, 2, 3, 4, 5};
        body(m).operators.back().outputs = {31};
        body(m).tensors.push_back({{}});
      },
      "stands in a loop");
}

TEST(TfliteLoops, SurviveEveryByteChanged) {
  b::Model model = b::loop_over_words();
  const std::string whole = model.write();
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ (i % 2 == 0 ? 0x01 : 0xFF));
    try {
      read_tflite(changed, "m.tflite");
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ExitCode::kInternal) << i;
    }
  }
}

}  // namespace
}  // namespace bantam::convert
