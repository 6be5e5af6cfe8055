#include "train/directory.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_file.h"
#include "base/output_file.h"
#include "source/generation.h"
#include "tokenizer/tokenizer.h"

namespace bantam::train {
namespace fs = std::filesystem;
namespace {

/// Returns config.json with the current type of the weights. Keys keep their order.
std::string config_text(const fs::path& file, const std::string& dtype) {
  std::string text = convert::read_text_file(file);
  if (dtype.empty()) return text;
  nlohmann::ordered_json config = nlohmann::ordered_json::parse(text);
  const char* name = dtype == "F16" ? "float16" : "float32";
  for (const char* key : {"dtype", "torch_dtype"}) {
    if (config.contains(key)) config[key] = name;
  }
  return config.dump(1) + "\n";
}

}  // namespace

void write_text(const fs::path& file, const std::string& text) {
  convert::OutputFile output(file);
  output.commit(text.data(), text.size());
}

void write_directory(const fs::path& student, const fs::path& output, const Parameters& parameters,
                     const std::vector<at::Tensor>& values, const std::string& dtype) {
  const auto copy = [&](const char* name) {
    std::error_code ignored;
    if (fs::is_regular_file(student / name, ignored)) {
      write_text(output / name, convert::read_text_file(student / name));
    }
  };
  for (const char* name : convert::kTokenizerFiles) copy(name);
  for (const char* name :
       {"added_tokens.json", "chat_template.jinja", "preprocessor_config.json", convert::kGenerationFile}) {
    copy(name);
  }
  write_text(output / "config.json", config_text(student / "config.json", dtype));
  write_text(output / "model.safetensors",
             convert::safetensors_file(source_tensors(student, parameters, values, dtype)));
}

}  // namespace bantam::train
