// ModelSource: the content of a model's directory or file, read but not yet a graph. Importers build graphs from it;
// student layouts (../student) first change it in memory.
#ifndef BANTAM_CONVERTER_SOURCE_MODEL_SOURCE_H_
#define BANTAM_CONVERTER_SOURCE_MODEL_SOURCE_H_

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/directory.h"
#include "base/json_file.h"
#include "source/checkpoint.h"
#include "source/fields.h"
#include "source/model_card.h"
#include "source/sentence_modules.h"
#include "source/shortlist.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {

namespace onnx {
struct Model;
}

/// The file beside the transformer that defines how images or sounds become numbers.
inline constexpr const char* kImageSettings = "preprocessor_config.json";

struct ModelSource {
  /// The files beside the weights. All readers access them through this member and not through the file system.
  std::shared_ptr<const Directory> files = Directory::nothing();
  std::string around;  // folder in `files` of modules.json and the other files around the transformer
  /// Folder in `files` of the transformer; differs from `around` only for sentence-transformers.
  std::string inside;
  SentenceModules modules;                  // from modules.json; empty if it does not exist
  Json config;                              // config.json
  std::string config_name = "config.json";  // name in problems
  std::shared_ptr<const Checkpoint> checkpoint;
  TokenizerFiles tokenizer;
  ModelCard card;                                    // from README.md, or from the file that holds the whole model
  std::vector<std::filesystem::path> weight_files;   // files that contain the weights
  std::shared_ptr<const SourceShortlist> shortlist;  // null: texts may contain every word
  std::vector<std::string> notes;                    // lines for the report
  std::shared_ptr<const onnx::Model> onnx;           // replaces the checkpoint and the layers of config.json

  /// Names in `files`: of files around the transformer, and of files in its folder.
  std::string name_around(const std::string& name) const { return name_in(around, name); }
  std::string name_inside(const std::string& name) const { return name_in(inside, name); }
  /// The folder of the transformer, or the file that holds the whole model, for messages.
  std::filesystem::path directory() const { return files->path(inside); }
};

/// Options that choose the parts of a directory to read.
struct SourceOptions {
  /// For a model with an entity table, a file with the names of entities to keep; "": all.
  std::filesystem::path entities = {};
  std::filesystem::path shortlist = {};  // for Marian's own directories; "": the one in the directory, "none": none
  std::string tower = {};                // for a directory of two models, "text" or "vision"
  std::string inputs = {};               // for a graph, the roles of its inputs: "ids=x,mask=m"; "": by names and types
  std::string output = {};               // for a graph, the name of the output to keep; "": the usual one
};

/// Opens the stored weights of a directory, in the folder that its modules.json names. Throws Error; kUnsupported for
/// weights with an adapter beside them, and for BitNet's.
Checkpoint open_checkpoint(const std::filesystem::path& directory);

/// Reads the weights, the list of their files and the tokenizer from `source->inside`. Throws Error for weights that
/// cannot be read; import_tokenizer reports problems of the tokenizer.
void read_checkpoint(ModelSource* source);

/// The last step of opening: reads the files around the transformer (modules.json, the card, settings of modules, heads
/// and images) unless the format has read them. An unreadable modules.json is an Error here; other unreadable documents
/// are an Error when a reader needs them.
void read_around(ModelSource* source);

/// Returns the fields of a JSON file around the transformer; none if it does not exist. Throws Error if the file cannot
/// be read.
Fields fields_around(const ModelSource& source, const std::string& name, Problems& problems);

/// Reads `named`: a directory, or a file that holds a whole model; ../import/formats.inc lists the formats. Throws
/// Error for missing files, for unreadable JSON and weights, and for options that the format does not support.
ModelSource open_model_source(const std::filesystem::path& named, const SourceOptions& options = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_MODEL_SOURCE_H_
