// A TensorFlow Lite file as read: tensors, operators, names, with all indices and sizes checked. Field names follow
// schemas/tflite.fbs.
#ifndef BANTAM_CONVERTER_ONNX_TFLITE_FILE_H_
#define BANTAM_CONVERTER_ONNX_TFLITE_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/model.h"
#include "tflite_generated.h"

namespace bantam::convert::tflite {

namespace fl = bantam::tflite;

struct Tensor {
  std::string name;  // unique
  onnx::Type type = onnx::Type::undefined;
  std::vector<int64_t> dims;   // for the texts that the file was made for
  std::vector<int64_t> ports;  // as `dims`, but -1 for extents that may differ at run time
  uint64_t elements = 1;
  bool constant = false, variable = false;
  std::string_view bytes;  // of constants; int4 elements take one byte each
  std::shared_ptr<const std::string> owned;
  /// One scale, or one per index of dimension `axis`; empty if the tensor is not quantized.
  std::vector<float> scales;
  std::vector<int64_t> zeros;
  int64_t axis = 0;
  std::string unread;  // why the tensor cannot be read; "": it can
};

struct Operation {
  fl::BuiltinOperator code = fl::BuiltinOperator::CUSTOM;
  std::string called;                    // name in messages
  std::vector<int32_t> inputs, outputs;  // tensors; -1: omitted
  const fl::Operator* options = nullptr;
};

/// Points into the bytes from which it was read.
struct File {
  std::string path;
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
  std::vector<int32_t> inputs, outputs;
  std::vector<std::string> input_names, output_names;  // of the signature; "": none
  std::string description;
  std::string_view metadata;
  std::shared_ptr<MemoryBudget> budget;  // of the file
  /// Subgraphs of loops, by index; they have no subgraphs themselves.
  std::map<int32_t, std::shared_ptr<const File>> subgraphs;
};

/// Reads the first subgraph of a file and the subgraphs of its loops. Throws Error (kInvalid, kUnsupported) that names
/// the file, the tensor and the operator.
File read_file(std::string_view bytes, const std::string& path);

}  // namespace bantam::convert::tflite

#endif  // BANTAM_CONVERTER_ONNX_TFLITE_FILE_H_
