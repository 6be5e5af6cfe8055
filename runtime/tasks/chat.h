// Renders conversations with the texts of a file's table; see bantam/chat.h.
#ifndef BANTAM_TASKS_CHAT_H_
#define BANTAM_TASKS_CHAT_H_

#include "bantam/chat.h"
#include "format/view.h"

namespace bantam {

/// Bits of fb::Chat::strips: the roles whose texts lose (ASCII) white space at both ends, and whether the user's text
/// is stripped together with the system's text before it.
constexpr uint32_t kStripsSystem = 1, kStripsUser = 2, kStripsAssistant = 4, kStripsTogether = 8;
/// Further bits, for an answer with thoughts: line feeds after thoughts_end, all white space there, and white space at
/// the answer's end are removed, too.
constexpr uint32_t kStripsThoughtLines = 16, kStripsBehindThoughts = 32, kStripsThoughtfulEnd = 64;

/// Does the same as render_chat.
Status render_conversation(const fb::Chat& chat, const ChatMessage* messages, uint32_t count,
                           void (*write)(void* target, const char* bytes, size_t size), void* target);

}  // namespace bantam

#endif  // BANTAM_TASKS_CHAT_H_
