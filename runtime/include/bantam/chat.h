// The text that a decoder for conversations goes on with, as its published template makes it. Files hold the template as plain texts.
#ifndef BANTAM_CHAT_H_
#define BANTAM_CHAT_H_

#include <stddef.h>

#include "bantam/model.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

enum class ChatRole : uint8_t { kSystem = 0, kUser = 1, kAssistant = 2 };

/// What one of them says: UTF-8, not zero-terminated.
struct ChatMessage {
  ChatRole role = ChatRole::kUser;
  const char* text = nullptr;
  size_t size = 0;
};

/// Does the file hold a template?
bool has_chat(const Model& model);

/// Writes the conversation and what stands in front of the answer, piece by piece. Its tokens are those of Tokenizer::encode without
/// special ones (EncodeOptions::add_special), which the text has itself. `messages`: at most one of the system, the first; then the user's
/// and the assistant's in turns, of which the last is the user's: else kInvalidArgument. kNoSuchTask: the file holds no template.
/// kUnsupported: its template knows no system. O(bytes).
Status render_chat(const Model& model, const ChatMessage* messages, uint32_t count,
                   void (*write)(void* target, const char* bytes, size_t size), void* target);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_CHAT_H_
