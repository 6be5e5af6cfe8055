// The tensors of a GGUF file as a file of named tensors: by transformers' names, in its order of rows and columns.
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

/// F32, F16 and BF16 keep their type; blocks of integers become the f32 values that they stand for.
class GgufWeights : public WeightFile {
 public:
  /// Throws Error (kUnsupported) naming all types that are not supported, (kInvalid) where heads do not divide rows.
  GgufWeights(std::shared_ptr<const GgufFile> file, const GgufModel& model);

  std::string read_bytes(const std::string& name) const override;

 private:
  struct Origin {
    const GgufTensor* tensor = nullptr;
    GgufChange change = GgufChange::kNone;
    uint64_t heads = 0;  // of kHeads, kKeyHeads
  };
  std::shared_ptr<const GgufFile> file_;
  std::map<std::string, Origin> origins_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_WEIGHTS_H_
