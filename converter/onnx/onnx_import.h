// Import of ONNX files: the file defines the layers; files beside it define names, labels and the tokenizer.
#ifndef BANTAM_CONVERTER_ONNX_ONNX_IMPORT_H_
#define BANTAM_CONVERTER_ONNX_ONNX_IMPORT_H_

#include "graph/graph.h"
#include "network/import_options.h"
#include "source/model_source.h"

namespace bantam::convert {

/// Returns the graph of a source with an `onnx` model, in f32 and SSA form. Throws Error that lists all nodes that are
/// not understood.
Graph import_onnx(const ModelSource& source, const ImportOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_ONNX_ONNX_IMPORT_H_
