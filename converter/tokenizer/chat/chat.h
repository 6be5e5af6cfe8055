// Converts chat templates to plain texts: renders a published template for a few probe conversations to find the texts
// before and after each turn, and for others to check that the template does nothing else.
#ifndef BANTAM_CONVERTER_TOKENIZER_CHAT_CHAT_H_
#define BANTAM_CONVERTER_TOKENIZER_CHAT_CHAT_H_

#include <memory>
#include <string>

#include "bantam_generated.h"
#include "graph/graph.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {

/// `variables`: the template's variables except messages, such as bos_token. Throws jinja::Problem that says why the
/// template cannot be expressed as plain texts.
std::unique_ptr<fb::ChatT> read_chat(const std::string& text, const Json& variables);

/// Adds the chat template of the tokenizer's files to the graph's task; if it is not understood, a note says why.
void add_chat(Graph& graph, const TokenizerFiles& files);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_CHAT_CHAT_H_
