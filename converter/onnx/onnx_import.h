// Import of ONNX files: what stands in the file says the layers, what lies beside it names, labels and the tokenizer.
#ifndef BANTAM_CONVERTER_ONNX_ONNX_IMPORT_H_
#define BANTAM_CONVERTER_ONNX_ONNX_IMPORT_H_

#include <filesystem>
#include <optional>

#include "graph/graph.h"
#include "network/import_options.h"
#include "source/model_source.h"

namespace bantam::convert {

/// `named`: an .onnx file, or a directory that holds one (or onnx/model.onnx) and no weights of another kind; nothing for others.
/// config.json, the tokenizer and modules.json may lie beside the file or in the directory above. Throws Error, see onnx::read_model.
std::optional<ModelSource> open_onnx(const std::filesystem::path& named);

/// The graph of such a source, f32 and in SSA form. Throws Error listing all nodes that are not understood.
Graph import_onnx(const ModelSource& source, const ImportOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_ONNX_ONNX_IMPORT_H_
