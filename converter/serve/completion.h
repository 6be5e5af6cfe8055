// Requests for generated texts in the forms of OpenAI's API: completions of prompts and answers in conversations.
#ifndef BANTAM_CONVERTER_SERVE_COMPLETION_H_
#define BANTAM_CONVERTER_SERVE_COMPLETION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bantam/model.h"
#include "base/error.h"
#include "base/json_file.h"
#include "base/ordered_json.h"
#include "run/decoding.h"
#include "run/generated_sequence.h"

namespace bantam::serve {

/// The texts that a request asks for. Each prompt has `n` choices; choice i belongs to prompt i / n.
struct Completion {
  bool chat = false;
  bool streams = false;  // by server-sent events
  bool usage = false;    // a stream's last event counts tokens
  uint32_t n = 1;
  std::vector<std::string> texts;            // prompts, or conversations as the model reads them
  std::vector<std::vector<int32_t>> tokens;  // prompts that are tokens; then `texts` is empty
  convert::Decoding decoding;
  std::string model;  // the name of the file

  size_t prompts() const { return texts.size() + tokens.size(); }
  size_t choices() const { return prompts() * n; }
};

/// Largest number of choices of a request.
constexpr size_t kMostChoices = 128;

/// Reads the body of a request for /v1/chat/completions or /v1/completions. A field that bantam cannot follow is
/// refused by its name, unless its value has no effect. Throws Error (invalid, unsupported).
Completion read_chat_completion(convert::Json& request, const Model& model, const std::string& name);
Completion read_text_completion(convert::Json& request, const Model& model, const std::string& name);

/// Returns the error with the fields of requests in place of the options of the command.
convert::Error in_words_of_requests(const convert::Error& error);

/// A finished choice.
struct MadeChoice {
  std::string text;
  convert::Finish finish = convert::Finish::kLength;
};

/// Writes the replies to a request: one object, or events of a stream. `completion` must outlive it.
class CompletionWriter {
 public:
  explicit CompletionWriter(const Completion& completion);

  std::string whole(const std::vector<MadeChoice>& choices, uint64_t given, uint64_t made) const;

  /// The first event of a choice; "" if there is none.
  std::string begin(size_t choice) const;
  std::string piece(size_t choice, std::string_view text) const;
  std::string end(size_t choice, convert::Finish finish) const;
  /// The events that end a stream.
  std::string last(uint64_t given, uint64_t made) const;

 private:
  convert::OrderedJson object(const char* kind) const;
  std::string event(size_t choice, convert::OrderedJson content, const char* finish) const;

  const Completion& completion_;
  std::string id_;
  int64_t created_ = 0;
};

/// Returns a server-sent event with this JSON.
std::string event_of(std::string json);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_COMPLETION_H_
