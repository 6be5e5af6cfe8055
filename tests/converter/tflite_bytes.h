// Writes TensorFlow Lite files for tests, with the builder of schemas/tflite.fbs.
#ifndef BANTAM_TESTS_CONVERTER_TFLITE_BYTES_H_
#define BANTAM_TESTS_CONVERTER_TFLITE_BYTES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tflite_generated.h"

namespace bantam::convert::tflite_bytes {

namespace fl = bantam::tflite;

struct Tensor {
  std::vector<int32_t> shape;
  fl::TensorType type = fl::TensorType::FLOAT32;
  std::string data = {};  // of constants
  std::vector<float> scales = {};
  std::vector<int64_t> zeros = {};
  int32_t axis = 0;
};

struct Operator {
  fl::BuiltinOperator code;
  std::vector<int32_t> inputs, outputs;
  fl::BuiltinOptions kind = fl::BuiltinOptions::NONE;
  flatbuffers::Offset<void> options = 0;
};

struct Subgraph {
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;
  std::vector<int32_t> inputs, outputs;
};

/// A model whose parts tests may change before it is written.
struct Model : Subgraph {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<Subgraph> loops;  // subgraphs from number 1 on
  uint32_t version = 3;
  uint32_t buffers_less = 0;  // number of buffers to omit
  std::vector<uint8_t> metadata = {};

  std::string write();
};

template <typename T>
std::string bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline std::string Model::write() {
  flatbuffers::FlatBufferBuilder& b = builder;
  std::vector<flatbuffers::Offset<fl::Buffer>> buffers = {fl::CreateBuffer(b)};
  std::vector<flatbuffers::Offset<fl::OperatorCode>> codes;
  const auto subgraph = [&](const Subgraph& graph) {
    std::vector<flatbuffers::Offset<fl::Tensor>> made;
    for (const Tensor& tensor : graph.tensors) {
      uint32_t buffer = 0;
      if (!tensor.data.empty()) {
        buffer = static_cast<uint32_t>(buffers.size());
        const std::vector<uint8_t> data(tensor.data.begin(), tensor.data.end());
        buffers.push_back(fl::CreateBufferDirect(b, &data));
      }
      flatbuffers::Offset<fl::QuantizationParameters> quantization = 0;
      if (!tensor.scales.empty()) {
        const auto scales = b.CreateVector(tensor.scales);
        const auto zeros = b.CreateVector(tensor.zeros);
        fl::QuantizationParametersBuilder q(b);
        q.add_scale(scales);
        q.add_zero_point(zeros);
        q.add_quantized_dimension(tensor.axis);
        quantization = q.Finish();
      }
      const std::string name = "t" + std::to_string(made.size());
      const auto shape = b.CreateVector(tensor.shape);
      const auto named = b.CreateString(name);
      fl::TensorBuilder t(b);
      t.add_shape(shape);
      t.add_type(tensor.type);
      t.add_buffer(buffer);
      t.add_name(named);
      t.add_quantization(quantization);
      made.push_back(t.Finish());
    }
    std::vector<flatbuffers::Offset<fl::Operator>> ops;
    for (const Operator& op : graph.operators) {
      codes.push_back(fl::CreateOperatorCode(b, static_cast<int8_t>(op.code), 0, 1, op.code));
      ops.push_back(fl::CreateOperatorDirect(b, static_cast<uint32_t>(codes.size() - 1), &op.inputs, &op.outputs,
                                             op.kind, op.options));
    }
    return fl::CreateSubGraphDirect(b, &made, &graph.inputs, &graph.outputs, &ops);
  };
  std::vector<flatbuffers::Offset<fl::SubGraph>> graphs = {subgraph(*this)};
  for (const Subgraph& loop : loops) graphs.push_back(subgraph(loop));
  std::vector<flatbuffers::Offset<fl::Metadata>> entries;
  if (!metadata.empty()) {
    entries.push_back(fl::CreateMetadataDirect(b, "TFLITE_METADATA", static_cast<uint32_t>(buffers.size())));
    buffers.push_back(fl::CreateBufferDirect(b, &metadata));
  }
  buffers.resize(buffers.size() - buffers_less);
  b.Finish(fl::CreateModelDirect(b, version, &codes, &graphs, "test", &buffers, nullptr, &entries),
           fl::ModelIdentifier());
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

/// The mean of words' rows, and a matrix: ids [1, 4], a table [5, 2], labels [1, 3].
inline Model mean_of_words() {
  Model m;
  using fl::BuiltinOperator;
  using fl::TensorType;
  const std::vector<float> table = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  m.tensors = {{{1, 4}, TensorType::INT32},
               {{5, 2}, TensorType::FLOAT32, bytes(table)},
               {{1, 4, 2}},
               {{1}, TensorType::INT32, bytes<int32_t>({1})},
               {{1, 2}},
               {{3, 2}, TensorType::INT8, bytes<int8_t>({1, 2, 3, 4, 5, 6}), {0.5F, 0.25F, 1.0F}, {0, 0, 0}},
               {{3}, TensorType::FLOAT32, bytes<float>({1, 2, 3})},
               {{1, 3}}};
  m.operators = {{BuiltinOperator::GATHER, {1, 0}, {2}},
                 {BuiltinOperator::MEAN, {2, 3}, {4}},
                 {BuiltinOperator::FULLY_CONNECTED, {4, 5, 6}, {7}}};
  m.inputs = {0};
  m.outputs = {7};
  return m;
}

/// An LSTM of two cells as Keras 3 writes it: ids [1, 4], a table [5, 2], a loop, labels [1, 3]. Matrix i of the gates
/// input, forget, cell, output contains i + 1 times fixed numbers.
inline Model loop_over_words() {
  Model m;
  using fl::BuiltinOperator;
  using fl::TensorType;
  const TensorType whole = TensorType::INT32, real = TensorType::FLOAT32;
  const std::string zero = bytes<int32_t>({0}), zeros = bytes<float>({0, 0});
  m.tensors = {{{1, 4}, whole},
               {{5, 2}, real, bytes<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})},
               {{1, 4, 2}},
               {{3}, whole, bytes<int32_t>({4, 1, 2})},
               {{4, 1, 2}},
               {{}, whole, zero},
               {{1, 1, 2}, real, zeros},
               {{1, 2}, real, zeros},
               {{}, whole},
               {{}, whole},
               {{1, 1, 2}},
               {{1, 2}},
               {{1, 2}},
               {{4, 1, 2}},
               {{3, 2}, real, bytes<float>({1, 2, 3, 4, 5, 6})},
               {{1, 3}}};
  m.operators = {{BuiltinOperator::GATHER, {1, 0}, {2}},
                 {BuiltinOperator::RESHAPE, {2, 3}, {4}},
                 {BuiltinOperator::WHILE,
                  {5, 5, 6, 7, 7, 4},
                  {8, 9, 10, 11, 12, 13},
                  fl::BuiltinOptions::WhileOptions,
                  fl::CreateWhileOptions(m.builder, 1, 2).Union()},
                 {BuiltinOperator::FULLY_CONNECTED, {11, 14}, {15}}};
  m.inputs = {0};
  m.outputs = {15};
  const std::vector<Tensor> carried = {{{}, whole}, {{}, whole}, {{1, 1, 2}}, {{1, 2}}, {{1, 2}}, {{4, 1, 2}}};
  Subgraph until;
  until.tensors = carried;
  until.tensors.push_back({{}, whole, bytes<int32_t>({4})});
  until.tensors.push_back({{}, TensorType::BOOL});
  until.operators = {{BuiltinOperator::LESS, {0, 6}, {7}}};
  until.inputs = {0, 1, 2, 3, 4, 5};
  until.outputs = {7};
  Subgraph body;
  body.tensors = carried;
  std::vector<float> rows, states;
  for (size_t gate = 0; gate < 4; ++gate) {
    for (const float v : {0.1F, -0.2F, 0.3F, 0.15F}) {
      rows.push_back(v * static_cast<float>(gate + 1));
      states.push_back(-0.5F * v * static_cast<float>(gate + 1));
    }
  }
  body.tensors.push_back({{}, whole, bytes<int32_t>({1})});  // 6
  body.tensors.push_back({{8, 2}, real, bytes(rows)});
  body.tensors.push_back({{8, 2}, real, bytes(states)});
  body.tensors.push_back({{8}, real, bytes<float>({0, 0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F})});
  body.tensors.push_back({{3}, whole, bytes<int32_t>({1, 1, 2})});  // 10
  body.tensors.insert(body.tensors.end(), {{{}, whole}, {{}, whole}, {{1, 2}}, {{1, 8}}, {{1, 8}}, {{1, 8}}});
  body.tensors.insert(body.tensors.end(), 13, {{1, 2}});  // 17 to 29
  body.tensors.push_back({{1, 1, 2}});
  body.operators = {{BuiltinOperator::ADD, {0, 6}, {11}},
                    {BuiltinOperator::ADD, {1, 6}, {12}},
                    {BuiltinOperator::GATHER, {5, 0}, {13}},
                    {BuiltinOperator::FULLY_CONNECTED, {13, 7, 9}, {14}},
                    {BuiltinOperator::FULLY_CONNECTED, {3, 8}, {15}},
                    {BuiltinOperator::ADD, {14, 15}, {16}},
                    {BuiltinOperator::SPLIT, {6, 16}, {17, 18, 19, 20}},
                    {BuiltinOperator::LOGISTIC, {17}, {21}},
                    {BuiltinOperator::LOGISTIC, {18}, {22}},
                    {BuiltinOperator::TANH, {19}, {23}},
                    {BuiltinOperator::LOGISTIC, {20}, {24}},
                    {BuiltinOperator::MUL, {22, 4}, {25}},
                    {BuiltinOperator::MUL, {21, 23}, {26}},
                    {BuiltinOperator::ADD, {25, 26}, {27}},
                    {BuiltinOperator::TANH, {27}, {28}},
                    {BuiltinOperator::MUL, {24, 28}, {29}},
                    {BuiltinOperator::RESHAPE, {29, 10}, {30}}};
  body.inputs = {0, 1, 2, 3, 4, 5};
  body.outputs = {11, 12, 30, 29, 27, 5};
  m.loops = {until, body};
  return m;
}

}  // namespace bantam::convert::tflite_bytes

#endif  // BANTAM_TESTS_CONVERTER_TFLITE_BYTES_H_
