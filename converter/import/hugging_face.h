// Imports a Hugging Face directory: the entry point for every model of the BERT family.
#ifndef BANTAM_CONVERTER_IMPORT_HUGGING_FACE_H_
#define BANTAM_CONVERTER_IMPORT_HUGGING_FACE_H_

#include <filesystem>

#include "graph/graph.h"
#include "network/import_options.h"
#include "source/model_source.h"

namespace bantam::convert {

/// Reads config.json, the safetensors file(s), the tokenizer and, for sentence-transformers, modules.json and the files
/// that it names. The graph is f32 and in SSA form (see graph/README.md); its notes list everything that was dropped or
/// assumed. Throws Error that lists all problems by name. Memory: the weights as f32.
Graph import_hugging_face(const std::filesystem::path& directory, const ImportOptions& options = {});
/// Imports a source that has already been read.
Graph import_source(const ModelSource& source, const ImportOptions& options = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_IMPORT_HUGGING_FACE_H_
