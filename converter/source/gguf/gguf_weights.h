// The tensors of a GGUF file as a WeightFile, with transformers' names and order of rows and columns.
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_WEIGHTS_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "source/gguf/gguf_file.h"
#include "source/gguf/gguf_models.h"
#include "source/weight_file.h"

namespace bantam::convert {

/// F32, F16 and BF16 keep their type; blocks of integers are dequantized to f32.
class GgufWeights : public WeightFile {
 public:
  /// Throws Error: kUnsupported that names all unsupported types, kInvalid if heads do not divide rows.
  GgufWeights(std::shared_ptr<const GgufFile> file, const GgufModel& model);

  std::string read_bytes(const std::string& name) const override;

 private:
  struct Origin {
    const GgufTensor* tensor = nullptr;
    GgufChange change = GgufChange::kNone;
    uint64_t heads = 0;  // number of heads for kHeads and kKeyHeads
  };
  std::shared_ptr<const GgufFile> file_;
  std::map<std::string, Origin> origins_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_WEIGHTS_H_
