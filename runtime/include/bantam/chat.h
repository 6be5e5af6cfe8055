// Conversations: builds the text that a decoder continues, with the model's published template. Files store the
// template as plain texts.
#ifndef BANTAM_CHAT_H_
#define BANTAM_CHAT_H_

#include <stddef.h>

#include "bantam/model.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

enum class ChatRole : uint8_t { kSystem = 0, kUser = 1, kAssistant = 2 };

/// A message of one participant: UTF-8, not zero-terminated.
struct ChatMessage {
  ChatRole role = ChatRole::kUser;
  const char* text = nullptr;
  size_t size = 0;
};

/// Returns true if the file has a template.
bool has_chat(const Model& model);

/// Writes the conversation and the text that the template puts before the answer, piece by piece. Encode the result
/// with Tokenizer::encode without special tokens (EncodeOptions::add_special): the text contains them already.
/// `messages` has at most one system message, which comes first; then the user's and the assistant's messages
/// alternate, and the last one is the user's; else kInvalidArgument. kNoSuchTask: the file has no template.
/// kUnsupported: its template has no system messages. O(bytes).
Status render_chat(const Model& model, const ChatMessage* messages, uint32_t count,
                   void (*write)(void* target, const char* bytes, size_t size), void* target);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_CHAT_H_
