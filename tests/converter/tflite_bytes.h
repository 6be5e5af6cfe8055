// Writes TensorFlow Lite files for tests, by the builder of schemas/tflite.fbs.
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

/// A model whose parts tests may change before it is written.
struct Model {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;
  std::vector<int32_t> inputs, outputs;
  uint32_t version = 3;
  uint32_t buffers_less = 0;  // that are left out
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
  std::vector<flatbuffers::Offset<fl::Tensor>> made;
  for (const Tensor& tensor : tensors) {
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
  std::vector<flatbuffers::Offset<fl::OperatorCode>> codes;
  std::vector<flatbuffers::Offset<fl::Operator>> ops;
  for (const Operator& op : operators) {
    codes.push_back(fl::CreateOperatorCode(b, static_cast<int8_t>(op.code), 0, 1, op.code));
    ops.push_back(
        fl::CreateOperatorDirect(b, static_cast<uint32_t>(ops.size()), &op.inputs, &op.outputs, op.kind, op.options));
  }
  std::vector<flatbuffers::Offset<fl::Metadata>> entries;
  if (!metadata.empty()) {
    entries.push_back(fl::CreateMetadataDirect(b, "TFLITE_METADATA", static_cast<uint32_t>(buffers.size())));
    buffers.push_back(fl::CreateBufferDirect(b, &metadata));
  }
  buffers.resize(buffers.size() - buffers_less);
  const std::vector<flatbuffers::Offset<fl::SubGraph>> graphs = {
      fl::CreateSubGraphDirect(b, &made, &inputs, &outputs, &ops)};
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

}  // namespace bantam::convert::tflite_bytes

#endif  // BANTAM_TESTS_CONVERTER_TFLITE_BYTES_H_
