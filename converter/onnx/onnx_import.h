// Import of ONNX files: what stands in the file says the layers, what lies beside it names, labels and the tokenizer.
#ifndef BANTAM_CONVERTER_ONNX_ONNX_IMPORT_H_
#define BANTAM_CONVERTER_ONNX_ONNX_IMPORT_H_

#include "graph/graph.h"
#include "network/import_options.h"
#include "source/model_source.h"

namespace bantam::convert {

/// The graph of a source whose `onnx` is there, f32 and in SSA form. Throws Error listing all nodes that are not
/// understood.
Graph import_onnx(const ModelSource& source, const ImportOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_ONNX_ONNX_IMPORT_H_
