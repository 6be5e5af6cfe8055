// Builds .bantam files for tests without the converter: constants from plain vectors, activations at increasing offsets
// (every tensor has its own place), ops from the schema's object form.
#ifndef BANTAM_TESTS_SESSION_MODEL_BUILDER_H_
#define BANTAM_TESTS_SESSION_MODEL_BUILDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bantam_generated.h"

namespace bantam::testing {

enum class WeightType { kF32, kF16, kI8 };

/// The bytes of a file with the alignment that callers must provide.
class FileBytes {
 public:
  FileBytes() = default;
  explicit FileBytes(const std::vector<uint8_t>& bytes, size_t alignment = 64, size_t skew = 0);
  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::shared_ptr<std::vector<uint8_t>> storage_;
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

class ModelBuilder {
 public:
  ModelBuilder();

  fb::ModelT model;
  std::vector<uint8_t> data;

  /// Adds constants with row-major values. `table`: rows are looked up; otherwise weights of a linear layer.
  int32_t vector(const std::string& name, const std::vector<float>& values);
  int32_t numbers(const std::string& name, const std::vector<int32_t>& values);
  int32_t weights(const std::string& name, uint32_t n, uint32_t k, const std::vector<float>& values, WeightType type);
  int32_t table(const std::string& name, uint32_t rows, uint32_t width, const std::vector<float>& values,
                WeightType type);

  /// Adds arena tensors at the next free offset of their region. `symbol`: 0 tokens, 1 sequences, 2 tile.
  int32_t activation(const std::string& name, int32_t symbol, uint32_t width, fb::DType type = fb::DType::f32,
                     fb::Layout layout = fb::Layout::rows, uint32_t heads = 0);
  /// Adds an activation that is also a named output.
  int32_t output(const std::string& name, int32_t symbol, uint32_t width);

  /// Appends an op to the current step, with outputs as the schema describes.
  fb::OpT& op(const std::string& name, fb::OpAttributesUnion attributes, std::vector<int32_t> inputs,
              std::vector<int32_t> outputs);
  /// Begins a step over `symbol` (0 tokens, 1 sequences).
  void step(int32_t symbol);

  /// Returns the bytes of the file. The model does not change, so that tests can damage it and finish again.
  std::vector<uint8_t> finish() const;

  /// Appends 64-byte aligned bytes to the data section.
  fb::Blob store(const void* bytes, size_t size);
};

template <typename Table>
fb::OpAttributesUnion attributes(Table table) {
  fb::OpAttributesUnion result;
  result.Set(std::move(table));
  return result;
}

/// Appends `tensor` to the op's inputs, after its own inputs, and returns its position for a field that names it.
int8_t name_input(fb::OpT& op, int32_t tensor);

/// Assembles header, graph and data, with correct sizes and checksums.
std::vector<uint8_t> assemble(const fb::ModelT& model, const std::vector<uint8_t>& data);

/// Returns the file after changing the kind of the named op to one that no version knows yet.
std::vector<uint8_t> with_unknown_kind(std::vector<uint8_t> file, const std::string& op);

/// Rounds to nearest even; does not handle NaN. For test weights of ordinary size.
uint16_t to_half(float value);

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_SESSION_MODEL_BUILDER_H_
