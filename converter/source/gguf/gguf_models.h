// Tables that map architectures of GGUF files ("general.architecture") to families: keys of config.json and names of
// tensors.
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_MODELS_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_MODELS_H_

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"
#include "source/gguf/gguf_file.h"

namespace bantam::convert {

/// The difference between the file's elements and the checkpoint's.
enum class GgufChange {
  kNone,
  kTurned,  // transposed: a matrix of outputs, where transformers stores inputs as rows
  /// Rows of each query head are interleaved: the first, the first of its second half, the second, ... (ggml's rotary
  /// positions).
  kHeads,
  kKeyHeads,  // likewise for key heads
  kMoreOne    // 1 is added
};

/// A module with NAME.weight and NAME.bias. "{}" stands for the layer's number.
struct GgufName {
  const char* gguf;
  const char* name;
  GgufChange change = GgufChange::kNone;
};

/// A value: its key after "ARCHITECTURE.", and its key in config.json. Keys that begin with "tokenizer." are complete.
struct GgufSetting {
  const char* key;
  const char* setting;
};

struct GgufModel {
  const char* architecture;
  const char* model_type;
  const char* class_name;  // without "Model", "ForCausalLM", ...
  bool generates = false;
  std::vector<GgufSetting> settings;
  std::vector<GgufName> names;
};

/// Returns the model of a file. Throws Error (kUnsupported) that names the known architectures.
const GgufModel& gguf_model(const GgufFile& file);

/// Returns the file's settings in the form of config.json; adds unsupported ones to `problems`, omitted ones to
/// `notes`.
Json gguf_config(const GgufModel& model, const GgufFile& file, Problems& problems, std::vector<std::string>& notes);

/// Returns a tensor's name in the checkpoint and its change; its own name if the tables do not contain it.
std::pair<std::string, GgufChange> gguf_tensor_name(const GgufModel& model, const std::string& name);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_MODELS_H_
