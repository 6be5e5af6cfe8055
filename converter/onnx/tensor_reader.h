// Reads TensorProto messages, whose data lies in the message's bytes, in numeric fields, or in another file of the
// directory.
#ifndef BANTAM_CONVERTER_ONNX_TENSOR_READER_H_
#define BANTAM_CONVERTER_ONNX_TENSOR_READER_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

#include "onnx/model.h"

namespace bantam::convert::onnx {

class TensorReader {
 public:
  /// `model` must outlive the reader and holds the mappings of other files. Without a directory, external data is
  /// refused.
  TensorReader(std::string file, std::filesystem::path directory, Model& model);

  /// Throws Error, or protozero's exceptions if the bytes are truncated. `named`: the tensor must have a name.
  Tensor read(protozero::data_view bytes, bool named);

 private:
  struct Loose;
  [[noreturn]] void fail(const std::string& why) const;
  template <typename Values>
  void decode(const Values& values, Type type, Loose* out) const;
  static void store(int64_t value, Type type, std::string& bytes);
  uint64_t count(const std::string& key, const std::string& text) const;
  std::string_view outside(const std::string& called, const std::string& location, uint64_t offset, uint64_t length);

  std::string file_;
  std::filesystem::path directory_;
  Model& model_;
  std::map<std::string, std::string_view> files_;
};

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_TENSOR_READER_H_
