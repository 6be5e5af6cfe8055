// A TensorFlow Lite file as it stands: tensors, operators, names; every index and size in it checked. Names of the fields are those of
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
  std::string name;  // no other one has it
  onnx::Type type = onnx::Type::undefined;
  std::vector<int64_t> dims;   // for the texts that the file was made for
  std::vector<int64_t> ports;  // the same, -1 where others may have another
  uint64_t elements = 1;
  bool constant = false, variable = false;
  std::string_view bytes;  // of constants; of int4 a byte each
  std::shared_ptr<const std::string> owned;
  /// One number, or one for each index of dimension `axis`; none: not quantised.
  std::vector<float> scales;
  std::vector<int64_t> zeros;
  int64_t axis = 0;
  std::string unread;  // why nobody reads it; "": it can be read
};

struct Operation {
  fl::BuiltinOperator code = fl::BuiltinOperator::CUSTOM;
  std::string called;                    // in messages
  std::vector<int32_t> inputs, outputs;  // tensors; -1: left out
  const fl::Operator* options = nullptr;
};

/// Points into the bytes that it was read from.
struct File {
  std::string path;
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
  std::vector<int32_t> inputs, outputs;
  std::vector<std::string> input_names, output_names;  // of the signature; "": it has none
  std::string description;
  std::string_view metadata;
  std::shared_ptr<MemoryBudget> budget;  // of the file
  /// Subgraphs that loops are made of, by their numbers; those in them have none.
  std::map<int32_t, std::shared_ptr<const File>> subgraphs;
};

/// The first subgraph of a file, and those of its loops. Throws Error (kInvalid, kUnsupported) naming file, tensor and operator.
File read_file(std::string_view bytes, const std::string& path);

}  // namespace bantam::convert::tflite

#endif  // BANTAM_CONVERTER_ONNX_TFLITE_FILE_H_
