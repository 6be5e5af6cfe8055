// The source of a conversion: the original model, or a student made by a recipe, and the same without pruned
// structures.
#ifndef BANTAM_CONVERTER_PIPELINE_SOURCE_H_
#define BANTAM_CONVERTER_PIPELINE_SOURCE_H_

#include <optional>

#include "pipeline/convert.h"

namespace bantam::convert {

struct ConvertSource {
  Graph graph;                    // what the file is compared with
  std::optional<Graph> narrowed;  // what goes into the file, where structures were pruned
  std::optional<StudentReport> student;
  std::optional<StructureReport> structures;

  Graph& kept() { return narrowed ? *narrowed : graph; }
};

/// Reads `options.source` and makes its layout smaller as options say. Throws Error as make_student, prune_structures and
/// import_source do.
ConvertSource read_source(const ConvertOptions& options);

/// Returns true if attention is made for long texts, where keys and values take most of the memory: attention to
/// windows with global tokens, or to blocks.
bool is_for_long_texts(const Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_SOURCE_H_
