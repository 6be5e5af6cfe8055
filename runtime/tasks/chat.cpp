#include "tasks/chat.h"

#include <string.h>

#include "linked.h"

#if BANTAM_IF_LINKED(Contexts)

namespace bantam {
namespace {

struct Piece {
  const char* bytes;
  size_t size;
};

Piece text_of(const flatbuffers::String* string) {
  return string == nullptr ? Piece{nullptr, 0} : Piece{string->c_str(), string->size()};
}

bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

Piece stripped(Piece text, bool left, bool right) {
  while (left && text.size != 0 && is_white(*text.bytes)) ++text.bytes, --text.size;
  while (right && text.size != 0 && is_white(text.bytes[text.size - 1])) --text.size;
  return text;
}

/// Returns the part of `text` after the last `end`, without the white space that `strips` removes. O(size of text *
/// size of end).
Piece without_thoughts(Piece text, Piece end, uint32_t strips) {
  if (end.size == 0 || text.size < end.size) return text;
  size_t at = text.size - end.size + 1;
  while (at != 0 && memcmp(text.bytes + at - 1, end.bytes, end.size) != 0) --at;
  if (at == 0) return text;
  const size_t begin = at - 1 + end.size;
  Piece rest = {text.bytes + begin, text.size - begin};
  while ((strips & kStripsThoughtLines) != 0 && rest.size != 0 && *rest.bytes == '\n') ++rest.bytes, --rest.size;
  return stripped(rest, (strips & kStripsBehindThoughts) != 0, (strips & kStripsThoughtfulEnd) != 0);
}

/// Returns true if there is at most one system message, which comes first, and the turns then alternate and end with
/// the user's.
bool in_turns(const ChatMessage* messages, uint32_t count) {
  const uint32_t first = count != 0 && messages[0].role == ChatRole::kSystem ? 1 : 0;
  for (uint32_t i = first; i < count; ++i) {
    if (messages[i].role != ((i - first) % 2 == 0 ? ChatRole::kUser : ChatRole::kAssistant)) return false;
    if (messages[i].text == nullptr && messages[i].size != 0) return false;
  }
  return count > first && (count - first) % 2 == 1;
}

}  // namespace

Status render_conversation(const fb::Chat& chat, const ChatMessage* messages, uint32_t count,
                           void (*write)(void* target, const char* bytes, size_t size), void* target) {
  if (!in_turns(messages, count)) return Status::kInvalidArgument;
  const auto put = [&](Piece text) {
    if (text.size != 0) write(target, text.bytes, text.size);
  };
  const bool given = messages[0].role == ChatRole::kSystem;
  const fb::SystemPlace place = chat.system_place();
  if (given && place == fb::SystemPlace::none) return Status::kUnsupported;
  Piece system = given ? Piece{messages[0].text, messages[0].size} : text_of(chat.default_system());
  if (given && (chat.strips() & kStripsSystem) != 0) system = stripped(system, true, true);
  const bool has_system = given || chat.always_system();
  const auto put_system = [&] {
    put(text_of(chat.system_before()));
    put(system);
    put(text_of(chat.system_after()));
  };
  put(text_of(chat.begin()));
  if (has_system && place == fb::SystemPlace::apart) put_system();
  const uint32_t first = given ? 1 : 0;
  const uint32_t with_system = place == fb::SystemPlace::last_user ? count - 1 : first;
  for (uint32_t i = first; i < count; ++i) {
    Piece text = {messages[i].text, messages[i].size};
    if (messages[i].role == ChatRole::kAssistant) {
      put(text_of(chat.assistant_before()));
      text = without_thoughts(text, text_of(chat.thoughts_end()), chat.strips());
      put(stripped(text, (chat.strips() & kStripsAssistant) != 0, (chat.strips() & kStripsAssistant) != 0));
      put(text_of(chat.assistant_after()));
      continue;
    }
    put(text_of(chat.user_before()));
    const bool behind = has_system && i == with_system && place != fb::SystemPlace::apart;
    if (behind) put_system();
    const bool strips = (chat.strips() & kStripsUser) != 0;
    put(stripped(text, strips && !(behind && (chat.strips() & kStripsTogether) != 0), strips));
    put(text_of(chat.user_after()));
  }
  put(text_of(chat.answer()));
  return Status::kOk;
}

bool has_chat(const Model& model) {
  return linked::kContexts && model.is_open() && root(model).task() != nullptr && root(model).task()->chat() != nullptr;
}

Status render_chat(const Model& model, const ChatMessage* messages, uint32_t count,
                   void (*write)(void* target, const char* bytes, size_t size), void* target) {
  if (write == nullptr || (messages == nullptr && count != 0)) return Status::kInvalidArgument;
  if (!has_chat(model)) return Status::kNoSuchTask;
  return render_conversation(*root(model).task()->chat(), messages, count, write, target);
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Contexts)
