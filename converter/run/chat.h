// Conversations with decoders whose files hold how they become texts.
#ifndef BANTAM_CONVERTER_RUN_CHAT_H_
#define BANTAM_CONVERTER_RUN_CHAT_H_

#include <string>
#include <vector>

#include "bantam/chat.h"
#include "run/generate.h"

namespace bantam::convert {

struct Turn {
  ChatRole role = ChatRole::kUser;
  std::string text;
};

/// A JSON list of {"role": "system", "user" or "assistant", "content": text}, or an object with such a list as "messages". Throws (kInvalid).
std::vector<Turn> read_turns(const std::string& json);

/// Returns the text that the model continues. Throws (kUnsupported if the file knows no conversations, kInvalid if
/// these are no valid turns).
std::string chat_text(const Model& model, const std::vector<Turn>& turns);

/// Settings for such a text: it has its special tokens itself, and an answer ends where the model's turn does.
void answer_turns(const Model& model, GenerateOptions* options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_CHAT_H_
