// Prompts that models read and do not pool (sentence-transformers' include_prompt: false).
#ifndef BANTAM_CONVERTER_PIPELINE_PROMPT_ROWS_H_
#define BANTAM_CONVERTER_PIPELINE_PROMPT_ROWS_H_

#include <string>

#include "graph/graph.h"

namespace bantam::convert {

/// Counts the tokens of the graph's prompt, as its own tokenizer makes them, and lets pools that import marked with kPromptRows
/// leave these out. A graph without such pools stays as it is. Throws Error (kUnsupported), which names `source`, where texts
/// with other prompts, or without one, would need another number.
void count_prompt_rows(const std::string& source, Graph* graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_PROMPT_ROWS_H_
