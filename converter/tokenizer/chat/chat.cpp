#include "tokenizer/chat/chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tasks/chat.h"
#include "tokenizer/chat/jinja.h"

namespace bantam::convert {
namespace {

using jinja::Problem;

/// Probe texts that occur in no template; a template can only strip spaces from them.
constexpr const char* kSystem = "qzSystemqz";
constexpr const char* kUser[] = {"qzUser1qz", "qzUser2qz", "qzUser3qz"};
constexpr const char* kAssistant[] = {"qzAssistant1qz", "qzAssistant2qz"};

struct Message {
  const char* role;
  std::string text;
};

class Template {
 public:
  Template(const std::string& text, const Json& variables) : root_(jinja::parse(text)), variables_(variables) {}

  std::string render(const std::vector<Message>& messages, bool answer = true) const {
    Json all = variables_;
    all["messages"] = Json::array();
    for (const Message& message : messages) {
      all["messages"].push_back({{"role", message.role}, {"content", message.text}});
    }
    all["add_generation_prompt"] = answer;
    return jinja::render(*root_, all);
  }

 private:
  std::unique_ptr<jinja::Node> root_;
  const Json& variables_;
};

std::vector<Message> turns(size_t users, bool system = false) {
  std::vector<Message> all;
  if (system) all.push_back({"system", kSystem});
  for (size_t i = 0; i < users; ++i) {
    if (i != 0) all.push_back({"assistant", kAssistant[i - 1]});
    all.push_back({"user", kUser[i]});
  }
  return all;
}

/// Returns the part of `text` between two others, each of which occurs once; "" stands for its beginning or end.
std::string between(const std::string& text, const std::string& first, const std::string& last) {
  const size_t from = first.empty() ? 0 : text.find(first);
  if (from == std::string::npos) throw Problem("it leaves out what somebody says");
  const size_t begin = from + first.size();
  const size_t end = last.empty() ? text.size() : text.find(last, begin);
  if (end == std::string::npos) throw Problem("it changes what somebody says, or its order");
  return text.substr(begin, end - begin);
}

bool begins(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }
bool ends(const std::string& text, const std::string& with) {
  return text.size() >= with.size() && text.compare(text.size() - with.size(), with.size(), with) == 0;
}
std::string without_beginning(const std::string& text, const std::string& with) {
  if (!begins(text, with)) throw Problem("turns of one role differ from each other");
  return text.substr(with.size());
}
std::string without_end(const std::string& text, const std::string& with) {
  if (!ends(text, with)) throw Problem("turns of one role differ from each other");
  return text.substr(0, text.size() - with.size());
}

std::string common_beginning(const std::string& a, const std::string& b) {
  const size_t most = std::min(a.size(), b.size());
  return {a.begin(), std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin()).first};
}

/// Determines the texts around turns from a conversation of three turns.
void read_turns(const Template& chat, fb::ChatT* out, std::string* head) {
  const std::string all = chat.render(turns(3)), open = chat.render(turns(3), false);
  const std::string end = between(all, kUser[2], "");
  const std::string next = between(all, kUser[0], kAssistant[0]);
  // Some templates end the text if no answer is requested.
  out->user_after = common_beginning(common_beginning(between(open, kUser[2], ""), end), next);
  out->answer = without_beginning(end, out->user_after);
  out->assistant_before = without_beginning(next, out->user_after);
  std::vector<Message> answered = turns(1);
  answered.push_back({"assistant", kAssistant[0]});
  const std::string behind = between(all, kAssistant[0], kUser[1]);
  // Some templates refuse conversations that end like this; then all of it belongs before the user's turns.
  try {
    const std::string after = between(chat.render(answered, false), kAssistant[0], "");
    if (begins(behind, after)) out->assistant_after = after;
  } catch (const Problem&) {
    out->assistant_after.clear();
  }
  out->user_before = without_beginning(behind, out->assistant_after);
  const std::string front = between(all, "", kUser[0]);
  if (ends(front, out->user_before)) {
    *head = without_end(front, out->user_before);
    return;
  }
  // If both begin with the same text, the part that is missing before the first turn belongs to the assistant's turns.
  for (size_t size = 1; size <= out->user_before.size(); ++size) {
    if (!ends(front, out->user_before.substr(size))) continue;
    out->assistant_after += out->user_before.substr(0, size);
    out->user_before.erase(0, size);
    *head = without_end(front, out->user_before);
    return;
  }
}

/// Determines the position of the system's text, and the default text if there is none.
void read_system(const Template& chat, const std::string& head, const std::string& bos, fb::ChatT* out) {
  std::string all;
  try {
    all = chat.render(turns(2, true));
  } catch (const Problem&) {
    out->begin = head;
    return;
  }
  if (all.find(kSystem) == std::string::npos) {
    out->begin = head;
    return;
  }
  const std::string front = between(all, "", kSystem);
  if (all.find(kUser[0]) < all.find(kSystem)) {
    out->begin = head;
    out->system_place = fb::SystemPlace::last_user;
    out->system_before =
        without_beginning(between(all, kAssistant[0], kSystem), out->assistant_after + out->user_before);
    out->system_after = between(all, kSystem, kUser[1]);
    return;
  }
  const std::string behind = between(all, kSystem, kUser[0]);
  if (begins(front, head + out->user_before) && !ends(behind, out->user_before)) {
    out->begin = head;
    out->system_place = fb::SystemPlace::first_user;
    out->system_before = front.substr((head + out->user_before).size());
    out->system_after = behind;
    return;
  }
  out->system_place = fb::SystemPlace::apart;
  out->system_after = without_end(behind, out->user_before);
  if (begins(front, head)) {
    out->begin = head;
  } else {  // there is a default system text
    if (!begins(head, front) || !ends(head, out->system_after) ||
        head.size() < front.size() + out->system_after.size()) {
      throw Problem("what the system says changes more than its own turn");
    }
    out->begin = begins(front, bos) ? bos : "";
    out->always_system = true;
    out->default_system = head.substr(front.size(), head.size() - front.size() - out->system_after.size());
  }
  out->system_before = front.substr(out->begin.size());
}

/// Determines whose texts are stripped of spaces at their ends.
void read_strips(const Template& chat, fb::ChatT* out) {
  const bool system = out->system_place != fb::SystemPlace::none;
  const auto strips = [&](const char* role, const char* text) {
    std::vector<Message> messages = turns(2, system && role == std::string("system"));
    std::string wide;
    for (Message& message : messages) {
      if (message.text != text) continue;
      wide = " " + message.text + "\n ";
      message.text = wide;
    }
    return chat.render(messages).find(wide) == std::string::npos;
  };
  if (system && strips("system", kSystem)) out->strips |= kStripsSystem;
  if (strips("user", kUser[0])) out->strips |= kStripsUser;
  if (strips("assistant", kAssistant[0])) out->strips |= kStripsAssistant;
  if ((out->strips & kStripsUser) == 0 || !system || out->system_place == fb::SystemPlace::apart) return;
  std::vector<Message> messages = turns(1, true);
  messages.back().text = std::string(" ") + kUser[0];
  if (chat.render(messages).find(messages.back().text) != std::string::npos) out->strips |= kStripsTogether;
}

std::string in_plain_texts(const fb::ChatT& chat, const std::vector<Message>& messages) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Chat::Pack(builder, &chat));
  std::vector<ChatMessage> all;
  for (const Message& message : messages) {
    const char role = message.role[0];
    all.push_back({role == 's'   ? ChatRole::kSystem
                   : role == 'u' ? ChatRole::kUser
                                 : ChatRole::kAssistant,
                   message.text.data(), message.text.size()});
  }
  std::string out;
  const auto append = [](void* target, const char* bytes, size_t size) {
    static_cast<std::string*>(target)->append(bytes, size);
  };
  const Status status = render_conversation(*flatbuffers::GetRoot<fb::Chat>(builder.GetBufferPointer()), all.data(),
                                            static_cast<uint32_t>(all.size()), append, &out);
  if (status != Status::kOk) throw Problem("it takes no conversation in turns");
  return out;
}

/// Compares conversations of several lengths, some of whose texts contain spaces, line feeds and markup.
void compare(const Template& chat, const fb::ChatT& made) {
  for (const bool system : {false, true}) {
    if (system && made.system_place == fb::SystemPlace::none) continue;
    for (size_t users = 1; users <= 3; ++users) {
      for (const char* around : {"", " ", "\n", "é {{x}} <b> 'q'\n\n- 1\t"}) {
        std::vector<Message> messages = turns(users, system);
        for (Message& message : messages) message.text = around + message.text + around;
        if (in_plain_texts(made, messages) != chat.render(messages)) {
          throw Problem(fmt::format("it does more than put texts around {} turns{}", 2 * users - 1,
                                    system ? " and the system's" : ""));
        }
      }
    }
  }
}

/// Returns true if `made` and the template agree for answers that contain thoughts.
bool agrees_on_thoughts(const Template& chat, const fb::ChatT& made) {
  for (const char* thoughts :
       {"<think>\nhm\n</think>\n\n", "<think>a</think> \n b</think>", "hm</think>\n \n", "<think>"}) {
    std::vector<Message> messages = turns(3, false);
    for (Message& message : messages) {
      if (message.role[0] == 'a') message.text = thoughts + message.text + "\n ";
    }
    if (in_plain_texts(made, messages) != chat.render(messages)) return false;
  }
  return true;
}

/// Templates of reasoning models often remove the thoughts from earlier answers. If this template does something else
/// with them, answers stay unchanged.
void read_thoughts(const Template& chat, fb::ChatT* out) {
  if (agrees_on_thoughts(chat, *out)) return;
  const fb::ChatT plain = *out;
  out->thoughts_end = "</think>";
  for (const uint32_t strips :
       {0U, kStripsThoughtLines, kStripsBehindThoughts, kStripsBehindThoughts | kStripsThoughtfulEnd}) {
    out->strips = static_cast<uint8_t>(plain.strips | strips);
    if (agrees_on_thoughts(chat, *out)) return;
  }
  *out = plain;
}

/// The text of a token in the settings, which may be an object.
std::string token(const TokenizerFiles& files, const char* key) {
  for (const Json* settings : {&files.config, &files.special}) {
    if (!settings->is_object() || !settings->contains(key)) continue;
    const Json& value = settings->at(key);
    const Json text = value.is_object() ? value.value("content", Json()) : value;
    if (text.is_string()) return text.get<std::string>();
  }
  return "";
}

/// The template's text; of several templates, the one named "default".
std::optional<std::string> template_of(const TokenizerFiles& files) {
  if (!files.chat.empty()) return files.chat;
  constexpr const char* kKey = "chat_template";
  if (!files.config.is_object() || !files.config.contains(kKey)) return std::nullopt;
  const Json& value = files.config.at(kKey);
  if (value.is_string()) return value.get<std::string>();
  for (const Json& one : value.is_array() ? value : Json::array()) {
    const bool named = one.is_object() && one.value("name", Json()) == "default";
    if (named && one.value("template", Json()).is_string()) return one.at("template").get<std::string>();
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<fb::ChatT> read_chat(const std::string& text, const Json& variables) {
  const Template chat(text, variables);
  auto made = std::make_unique<fb::ChatT>();
  std::string head;
  read_turns(chat, made.get(), &head);
  const Json bos = variables.value("bos_token", Json(""));
  read_system(chat, head, bos.is_string() ? bos.get<std::string>() : "", made.get());
  read_strips(chat, made.get());
  compare(chat, *made);
  read_thoughts(chat, made.get());
  return made;
}

void add_chat(Graph& graph, const TokenizerFiles& files) {
  const std::optional<std::string> text = template_of(files);
  if (!text) return;
  Json variables = Json::object();
  for (const char* key : {"bos_token", "eos_token", "pad_token", "unk_token"}) variables[key] = token(files, key);
  try {
    graph.model.task->chat = read_chat(*text, variables);
    if (!agrees_on_thoughts(Template(*text, variables), *graph.model.task->chat)) {
      graph.notes.push_back(
          "the tokenizer's chat template changes answers that hold <think>...</think> in a way of its own; bantam "
          "generate --messages passes earlier answers on as they are: leave the thoughts out of them");
    }
  } catch (const Problem& problem) {
    graph.notes.push_back(
        fmt::format("the tokenizer's chat template is not one of texts around turns ({}): bantam generate --chat has "
                    "no use for the file; "
                    "without --chat it goes on with a conversation's text as the model's card shows it",
                    problem.what()));
  }
}

}  // namespace bantam::convert
