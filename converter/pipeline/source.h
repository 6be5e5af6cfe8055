// The source of a conversion: the original model, or a student made by a recipe; and the same without pruned
// structures.
#ifndef BANTAM_CONVERTER_PIPELINE_SOURCE_H_
#define BANTAM_CONVERTER_PIPELINE_SOURCE_H_

#include <optional>

#include "pipeline/convert.h"

namespace bantam::convert {

struct ConvertSource {
  Graph graph;                    // the reference that the file is compared with
  std::optional<Graph> narrowed;  // if structures were pruned: the graph for the file
  std::optional<StudentReport> student;
  std::optional<StructureReport> structures;

  Graph& kept() { return narrowed ? *narrowed : graph; }
};

/// Reads `options.source` and reduces its layout as the options say. Throws Error as make_student, prune_structures and
/// import_source do.
ConvertSource read_source(const ConvertOptions& options);

/// Returns true if the attention is designed for long texts, where keys and values take most of the memory: window
/// attention with global tokens, or block attention.
bool is_for_long_texts(const Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_SOURCE_H_
