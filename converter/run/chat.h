// Conversations with decoders whose files describe how conversations become texts.
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

/// Parses a JSON list of {"role": "system", "user" or "assistant", "content": text}, or an object with such a list in
/// "messages". Throws (kInvalid).
std::vector<Turn> read_turns(const std::string& json);

/// Returns the text that the model continues. Throws kUnsupported if the file has no chat format, and kInvalid if the
/// turns are not valid.
std::string chat_text(const Model& model, const std::vector<Turn>& turns);

/// Changes the settings for such a text: it already contains its special tokens, and an answer ends where the model's
/// turn ends.
void answer_turns(const Model& model, GenerateOptions* options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_CHAT_H_
