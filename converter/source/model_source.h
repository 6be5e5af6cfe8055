// ModelSource: what a Hugging Face directory says, read but not yet a graph. Importers make graphs of it; student
// layouts (../student) change it in memory first.
#ifndef BANTAM_CONVERTER_SOURCE_MODEL_SOURCE_H_
#define BANTAM_CONVERTER_SOURCE_MODEL_SOURCE_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "source/checkpoint.h"
#include "source/model_card.h"
#include "source/shortlist.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {

namespace onnx {
struct Model;
}

struct ModelSource {
  std::filesystem::path root;               // what the user named: model card, modules.json
  std::filesystem::path directory;          // where the transformer itself lies; `root` but for sentence-transformers
  Json config;                              // config.json
  std::string config_name = "config.json";  // what problems call it
  std::shared_ptr<const Checkpoint> checkpoint;
  TokenizerFiles tokenizer;
  std::vector<std::filesystem::path> weight_files;   // where the weights come from
  std::shared_ptr<const SourceShortlist> shortlist;  // null: texts may have every word
  std::vector<std::string> notes;                    // report lines for the user
  std::shared_ptr<const onnx::Model> onnx;           // instead of the checkpoint and what config.json says of layers
  std::optional<ModelCard> card;                     // else root/README.md is read
};

/// What of a directory is taken.
struct SourceOptions {
  std::filesystem::path entities = {};   // of a model with a table of them, names of those to keep; "": all
  std::filesystem::path shortlist = {};  // of Marian's own directories; "": what lies there, "none": none
  std::string tower = {};                // of a directory of two models, "text" or "vision"
};

/// `directory` may be a file that holds all of it (GGUF). Reads config.json, the tokenizer's files and the headers of the weights. Throws Error for a directory that is not there,
/// for JSON and weights that cannot be read; what is wrong with the tokenizer is told by import_tokenizer. Options that are not for
/// such a directory are an Error.
ModelSource open_model_source(const std::filesystem::path& directory, const SourceOptions& options = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_MODEL_SOURCE_H_
