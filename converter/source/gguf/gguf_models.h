// Maps architectures of GGUF files ("general.architecture") to families: keys of config.json and names of tensors, as
// data.
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_MODELS_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_MODELS_H_

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"
#include "source/gguf/gguf_file.h"

namespace bantam::convert {

/// The difference between a tensor's elements and those of the checkpoint.
enum class GgufChange {
  kNone,
  kTurned,  // a matrix of outputs, where transformers has inputs as rows
  kHeads,  // rows of each head of queries: the first, the first of its second half, the second, ... (ggml's rotary positions)
  kKeyHeads,  // likewise of keys
  kMoreOne    // 1 is added
};

/// A module: NAME.weight and NAME.bias. "{}" is the layer's number.
struct GgufName {
  const char* gguf;
  const char* name;
  GgufChange change = GgufChange::kNone;
};

/// A value: its key behind "ARCHITECTURE." and the one of config.json. Keys with "tokenizer." are whole.
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

/// Returns the model of a file. Throws Error (kUnsupported) naming the known ones.
const GgufModel& gguf_model(const GgufFile& file);

/// Returns the file's settings in the form of config.json; unsupported ones go to `problems`, omitted ones to `notes`.
Json gguf_config(const GgufModel& model, const GgufFile& file, Problems& problems, std::vector<std::string>& notes);

/// Returns the name of a tensor in the checkpoint, and its change; its own name if the tables have none.
std::pair<std::string, GgufChange> gguf_tensor_name(const GgufModel& model, const std::string& name);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_MODELS_H_
