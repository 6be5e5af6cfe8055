#include "run/text_constraint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/known_keys.h"
#include "base/printable.h"
#include "base/status_error.h"
#include "run/prompts.h"
#include "run/text_stream.h"

namespace bantam::convert {
namespace {

/// Returns the text that tokens add after a prompt.
std::string text_behind(const Tokenizer& tokenizer, const std::vector<int32_t>& prompt,
                        const std::vector<int32_t>& ids) {
  const std::vector<std::string> nothing_stops;
  const TakeText silent;
  TextStream stream(tokenizer, prompt, nothing_stops, silent);
  for (const int32_t id : ids) stream.add(id);
  return stream.finish();
}

/// Returns the tokens of an answer after a prompt: its tokens in the text of prompt and answer together or, if these do
/// not decode to exactly the answer, its tokens when it is alone. Throws if those do not either.
std::vector<int32_t> answer_ids(const Model& model, const Tokenizer& tokenizer, const Decoding& decoding,
                                const std::string& given, const std::vector<int32_t>& prompt,
                                const std::string& answer) {
  std::string made;
  if (!given.empty()) {
    const std::vector<int32_t> whole = text_ids(model, 0, given + answer, 0, decoding.special_tokens).ids;
    const bool same = whole.size() > prompt.size() && std::equal(prompt.begin(), prompt.end(), whole.begin());
    if (same) {
      std::vector<int32_t> ids(whole.begin() + static_cast<std::ptrdiff_t>(prompt.size()), whole.end());
      made = text_behind(tokenizer, prompt, ids);
      if (made == answer) return ids;
    }
  }
  std::vector<int32_t> ids = text_ids(model, 0, answer, 0, false).ids;
  const std::string alone = text_behind(tokenizer, prompt, ids);
  if (alone == answer && !ids.empty()) return ids;
  if (made.empty()) made = alone;
  const bool blank = made == " " + answer;
  fail(ExitCode::kInvalid, "the answer \"{}\": its tokens make \"{}\" behind this prompt; {}", printable(answer),
       printable(made),
       blank ? "leave out the blank at the prompt's end, and give answers one at their beginning"
             : "give answers that the model's tokenizer has tokens for");
}

}  // namespace

const std::vector<std::string>& json_kind_names() {
  static const std::vector<std::string> names = {"any",     "string", "number", "integer",
                                                 "boolean", "null",   "array",  "object"};
  return names;
}

TextForm::Field read_field(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string name = text.substr(0, colon);
  const std::string kind = colon == std::string::npos ? "any" : text.substr(colon + 1);
  const std::vector<std::string>& kinds = json_kind_names();
  const auto found = std::find(kinds.begin(), kinds.end(), kind);
  if (found == kinds.end() || name.empty()) {
    fail(ExitCode::kUsage, "--field {}: is NAME:KIND, KIND one of {}{}", printable(text), fmt::join(kinds, ", "),
         guess(kind, kinds));
  }
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (!std::all_of(name.begin(), name.end(), plain)) {
    fail(ExitCode::kUsage, "--field {}: names are of printable ASCII, without quotation marks and backslashes",
         printable(text));
  }
  return {name, static_cast<JsonKind>(found - kinds.begin())};
}

TextConstraint::TextConstraint(const Model& model, const Decoding& decoding, const std::string& given,
                               const std::vector<int32_t>& prompt, uint32_t room)
    : room_(room), end_ids_(decoding.ends) {
  // With beams, only the file's own end tokens end a text.
  const auto own = [&](int32_t id) { return decoding.has_beams() && !ends_text(model, id); };
  end_ids_.erase(std::remove_if(end_ids_.begin(), end_ids_.end(), own), end_ids_.end());
  Tokenizer tokenizer;
  check(Tokenizer::open(model, 0, &tokenizer), "the file");
  if (decoding.form.answers.empty()) {
    open_json(tokenizer, decoding, prompt);
  } else {
    open_answers(model, decoding, given, prompt);
  }
  TextEnd end = TextEnd::kNo;
  const Status status = constraint_.follow(constraint_.state, nullptr, 0, room_, &end);
  if (status == Status::kTooManyTokens) {
    fail(ExitCode::kInvalid,
         "there is room for {} tokens, which are too few for {}; give a larger --max-new or --context", room_,
         decoding.form.answers.empty() ? "such JSON" : "the longest answer");
  }
  check(status, "the answers");
}

void TextConstraint::open_answers(const Model& model, const Decoding& decoding, const std::string& given,
                                  const std::vector<int32_t>& prompt) {
  Tokenizer tokenizer;
  check(Tokenizer::open(model, 0, &tokenizer), "the file");
  offsets_.push_back(0);
  for (const std::string& answer : decoding.form.answers) {
    tokens_.push_back(answer_ids(model, tokenizer, decoding, given, prompt, answer));
    ids_.insert(ids_.end(), tokens_.back().begin(), tokens_.back().end());
    offsets_.push_back(static_cast<uint32_t>(ids_.size()));
  }
  const auto count = static_cast<uint32_t>(tokens_.size());
  memory_.resize(count);
  const EndTokens ends = {end_ids_.data(), static_cast<uint32_t>(end_ids_.size())};
  const Status status = answers_.open(ids_.data(), offsets_.data(), count, ends, memory_.data(), Answers::bytes(count));
  if (status == Status::kInvalidArgument && end_ids_.empty()) {
    fail(ExitCode::kUnsupported,
         "no token of this model ends a text, so that an answer which another one begins with cannot be chosen; leave "
         "out one of them");
  }
  check(status, "the answers");
  constraint_ = answers_.constraint();
}

void TextConstraint::open_json(const Tokenizer& tokenizer, const Decoding& decoding,
                               const std::vector<int32_t>& prompt) {
  for (const TextForm::Field& field : decoding.form.fields) {
    fields_.push_back({{field.name.data(), field.name.size()}, field.kind});
  }
  JsonOptions options;
  options.kind = fields_.empty() ? decoding.form.json.value_or(JsonKind::kAny) : JsonKind::kObject;
  options.fields = fields_.data();
  options.field_count = static_cast<uint32_t>(fields_.size());
  const EndTokens ends = {end_ids_.data(), static_cast<uint32_t>(end_ids_.size())};
  const Status status = json_.open(tokenizer, options, ends, prompt.data(), static_cast<uint32_t>(prompt.size()));
  if (status == Status::kUnsupported) {
    fail(ExitCode::kUnsupported,
         "JSON needs a token for each of the characters {{}}[]\":,0 and the letters of true, false and null{}, which "
         "this model's "
         "tokenizer lacks; leave out --format and --field",
         fields_.empty() ? "" : ", and of the fields' names");
  }
  check(status, "--field");
  constraint_ = json_.constraint();
}

bool TextConstraint::must_end(const std::vector<int32_t>& made) {
  TextEnd end = TextEnd::kNo;
  const auto count = static_cast<uint32_t>(made.size());
  check(constraint_.follow(constraint_.state, made.data(), count, room_ - std::min(room_, count), &end), "the text");
  return end == TextEnd::kMust;
}

}  // namespace bantam::convert
