#include "run/chat.h"

#include <algorithm>

#include "base/error.h"
#include "base/json_file.h"
#include "base/status_error.h"
#include "format/view.h"

namespace bantam::convert {
namespace {

constexpr const char* kRoles[] = {"system", "user", "assistant"};

Turn read_turn(const Json& message) {
  const bool whole = message.is_object() && message.contains("role") && message.contains("content") &&
                     message.at("role").is_string() && message.at("content").is_string();
  if (!whole) fail(ExitCode::kInvalid, "a message is no {{\"role\": ..., \"content\": ...}} of two texts");
  const std::string role = message.at("role");
  for (uint32_t i = 0; i < 3; ++i) {
    if (role == kRoles[i]) return {static_cast<ChatRole>(i), message.at("content")};
  }
  fail(ExitCode::kInvalid, "the role \"{}\" is not known; \"system\", \"user\" and \"assistant\" are", role);
}

}  // namespace

std::vector<Turn> read_turns(const std::string& json) {
  Json messages = parse_json(json, "the conversation");
  if (messages.is_object() && messages.contains("messages")) messages = Json(messages.at("messages"));
  if (!messages.is_array()) fail(ExitCode::kInvalid, "the conversation is not a JSON list of messages");
  std::vector<Turn> turns;
  for (const Json& message : messages) turns.push_back(read_turn(message));
  return turns;
}

std::string chat_text(const Model& model, const std::vector<Turn>& turns) {
  std::vector<ChatMessage> messages;
  messages.reserve(turns.size());
  for (const Turn& turn : turns) messages.push_back({turn.role, turn.text.data(), turn.text.size()});
  std::string text;
  const auto append = [](void* target, const char* bytes, size_t size) {
    static_cast<std::string*>(target)->append(bytes, size);
  };
  switch (render_chat(model, messages.data(), static_cast<uint32_t>(messages.size()), append, &text)) {
    case Status::kOk:
      return text;
    case Status::kNoSuchTask:
      fail(ExitCode::kUnsupported,
           "the file does not say how conversations become texts: its source has no chat template, or one that convert "
           "did "
           "not understand; write the text as the model's card shows it, and give it to generate without --chat");
    case Status::kUnsupported:
      fail(ExitCode::kUnsupported, "this model's conversations have no system; say it in the user's first message");
    default:
      fail(
          ExitCode::kInvalid,
          "a conversation has at most one message of the system, the first, and then the user's and the assistant's in "
          "turns, of which the last is the user's");
  }
}

void answer_turns(const Model& model, GenerateOptions* options) {
  options->special_tokens = false;
  const fb::Chat& chat = *root(model).task()->chat();
  const std::string after = chat.assistant_after() == nullptr ? "" : chat.assistant_after()->str();
  Tokenizer tokenizer;
  check(Tokenizer::open(model, 0, &tokenizer), "the file");
  const std::vector<int32_t> ids = prompt_ids(model, after, false);
  const auto& added = *root(model).tokenizers()->Get(0)->added_tokens();
  const auto ends = [&](const fb::AddedToken* token) {
    return !ids.empty() && token->special() && token->id() == static_cast<uint32_t>(ids.front());
  };
  if (count(root(model).tokenizers()->Get(0)->added_tokens()) != 0 && std::any_of(added.begin(), added.end(), ends)) {
    options->ends.push_back(ids.front());
    return;
  }
  // Otherwise stop at the text that the template puts after an answer: its first line that is not empty.
  const size_t begin = after.find_first_not_of(" \t\r\n");
  if (begin != std::string::npos) options->stop.push_back(after.substr(begin, after.find('\n', begin) - begin));
}

}  // namespace bantam::convert
