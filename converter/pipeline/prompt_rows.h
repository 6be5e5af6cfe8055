// Prompts that models read but exclude from pooling (sentence-transformers' include_prompt: false).
#ifndef BANTAM_CONVERTER_PIPELINE_PROMPT_ROWS_H_
#define BANTAM_CONVERTER_PIPELINE_PROMPT_ROWS_H_

#include <string>

#include "graph/graph.h"

namespace bantam::convert {

/// Counts the tokens of the graph's prompt with its own tokenizer, and makes the pools that import marked with
/// kPromptRows skip them. Does not change a graph without such pools. Throws Error (kUnsupported) that names `source`
/// if texts with other prompts, or without one, would need a different number.
void count_prompt_rows(const std::string& source, Graph* graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_PROMPT_ROWS_H_
