// Templates of conversations as plain texts: what a published one makes of a few probes says what stands before and behind each turn,
// and others show whether that is all that it does.
#ifndef BANTAM_CONVERTER_TOKENIZER_CHAT_CHAT_H_
#define BANTAM_CONVERTER_TOKENIZER_CHAT_CHAT_H_

#include <memory>
#include <string>

#include "bantam_generated.h"
#include "graph/graph.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {

/// `variables`: what the template knows beside messages, bos_token and the like. Throws jinja::Problem: why it is not one of plain texts.
std::unique_ptr<fb::ChatT> read_chat(const std::string& text, const Json& variables);

/// The template of the tokenizer's files becomes that of the graph's task; a note says why where it is not understood.
void add_chat(Graph& graph, const TokenizerFiles& files);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_CHAT_CHAT_H_
