// ModelSource: the content of a model's directory or file, read but not yet a graph. Importers make graphs from it;
// student layouts (../student) change it in memory first.
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

/// The file around the transformer that says how images, or sounds, become numbers.
inline constexpr const char* kImageSettings = "preprocessor_config.json";

struct ModelSource {
  /// The files beside the weights. All readers take them from here; nobody else asks the file system for them.
  std::shared_ptr<const Directory> files = Directory::nothing();
  std::string around;       // the folder in `files` of modules.json and what else stands around the transformer
  std::string inside;       // the folder in `files` of the transformer itself; `around` but for sentence-transformers
  SentenceModules modules;  // of modules.json; empty: there is none
  Json config;              // config.json
  std::string config_name = "config.json";  // what problems call it
  std::shared_ptr<const Checkpoint> checkpoint;
  TokenizerFiles tokenizer;
  ModelCard card;                                    // of README.md, or of the file that holds all
  std::vector<std::filesystem::path> weight_files;   // where the weights come from
  std::shared_ptr<const SourceShortlist> shortlist;  // null: texts may have every word
  std::vector<std::string> notes;                    // report lines for the user
  std::shared_ptr<const onnx::Model> onnx;           // instead of the checkpoint and what config.json says of layers

  /// Names in `files`: of files around the transformer, and of files beside it.
  std::string name_around(const std::string& name) const { return name_in(around, name); }
  std::string name_inside(const std::string& name) const { return name_in(inside, name); }
  /// The folder of the transformer, or the file that holds the whole model, as messages call it.
  std::filesystem::path directory() const { return files->path(inside); }
};

/// Options that choose the parts of a directory to read.
struct SourceOptions {
  std::filesystem::path entities = {};   // of a model with a table of them, names of those to keep; "": all
  std::filesystem::path shortlist = {};  // of Marian's own directories; "": what lies there, "none": none
  std::string tower = {};                // of a directory of two models, "text" or "vision"
  std::string inputs = {};               // of a graph, which input is what: "ids=x,mask=m"; "": as names and types say
  std::string output = {};               // of a graph, the name of the output that the file gives; "": the usual one
};

/// Opens the stored weights of a directory, in the folder that its modules.json names. Throws Error; kUnsupported for
/// weights with an adapter beside them.
Checkpoint open_checkpoint(const std::filesystem::path& directory);

/// Reads the weights, the list of their files and the tokenizer from `source->inside`. Throws Error for weights that
/// cannot be read; import_tokenizer reports problems of the tokenizer.
void read_checkpoint(ModelSource* source);

/// The last step of opening: reads the files around the transformer (modules.json, the card, settings of modules, heads
/// and images) unless the format has read them. An unreadable modules.json is an Error here; other unreadable documents
/// are an Error when a reader needs them.
void read_around(ModelSource* source);

/// Returns the fields of a JSON file around the transformer; none if it does not exist. Throws Error for a file that
/// cannot be read.
Fields fields_around(const ModelSource& source, const std::string& name, Problems& problems);

/// Reads `named`: a directory, or a file that holds a whole model; ../import/formats.inc lists the formats. Throws
/// Error for missing files, for JSON and weights that cannot be read, and for options that the format does not take.
ModelSource open_model_source(const std::filesystem::path& named, const SourceOptions& options = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_MODEL_SOURCE_H_
