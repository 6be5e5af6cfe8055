#include "serve/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <utility>

#include "base/error.h"
#include "base/known_keys.h"
#include "base/printable.h"
#include "base/status_error.h"
#include "run/chat.h"
#include "serve/request_fields.h"

namespace bantam::serve {
namespace {

using convert::ExitCode;
using convert::fail;
using convert::Finish;
using convert::GenerateOptions;
using convert::Json;
using convert::one_line;
using convert::OrderedJson;
using convert::TextForm;

constexpr uint32_t kMostNew = 1U << 20;
constexpr size_t kMostStops = 16;

/// Fields of OpenAI's API that name or bill a request and do not change its text.
const std::vector<std::string>& harmless_fields() {
  static const std::vector<std::string> names = {"user",
                                                 "metadata",
                                                 "store",
                                                 "service_tier",
                                                 "safety_identifier",
                                                 "prompt_cache_key",
                                                 "prompt_cache_retention",
                                                 "parallel_tool_calls"};
  return names;
}

/// Fields of OpenAI's API that bantam cannot follow: accepted only with a value without effect.
const std::vector<std::string>& unsupported_fields() {
  static const std::vector<std::string> names = {
      "audio",      "best_of",     "echo",       "frequency_penalty", "function_call",    "functions",
      "logit_bias", "logprobs",    "modalities", "prediction",        "presence_penalty", "reasoning_effort",
      "suffix",     "tool_choice", "tools",      "top_logprobs",      "verbosity",        "web_search_options"};
  return names;
}

bool has_no_effect(const std::string& name, const Json& value) {
  if (value.is_null() || value == false || (value.is_string() && value.get_ref<const std::string&>().empty()) ||
      (value.is_number() && value == 0))
    return true;
  if (value.is_array() || value.is_object()) return value.empty() || (name == "modalities" && value == Json({"text"}));
  if (name == "tool_choice" || name == "function_call") return value == "none" || value == "auto";
  return name == "best_of" && value == 1;
}

/// Refuses fields that are not known, and those that would change the text otherwise than bantam can.
void check_fields(const Json& request, const std::string& where, std::vector<std::string> known) {
  convert::Problems problems;
  for (const std::string& name : unsupported_fields()) {
    const auto it = request.find(name);
    if (it == request.end() || has_no_effect(name, *it)) continue;
    problems.add(ExitCode::kInvalid, fmt::format("\"{}\": is not supported here; leave it out", name));
  }
  for (const auto* more : {&harmless_fields(), &unsupported_fields()}) {
    known.insert(known.end(), more->begin(), more->end());
  }
  convert::refuse_unknown_keys(request, "the request to " + where, known, problems);
  problems.raise();
}

/// Returns the kind of value that a schema allows, if it says nothing else that constrains the value.
JsonKind kind_of(const Json& schema, const std::string& where) {
  if (!schema.is_object()) fail(ExitCode::kInvalid, "{}: wanted a JSON schema, an object", where);
  for (const auto& [key, value] : schema.items()) {
    const bool says_nothing = key == "title" || key == "description" || key == "default" || key == "examples" ||
                              key == "$schema" || key == "$id" || key == "strict";
    if (says_nothing || key == "type") continue;
    fail(ExitCode::kInvalid,
         "{}: \"{}\" is not supported; texts can have one of the types of JSON, or be an object of members with such "
         "types",
         where, convert::printable(key.substr(0, 80)));
  }
  if (!schema.contains("type")) return JsonKind::kAny;
  const std::string type = schema.at("type").is_string() ? schema.at("type").get<std::string>() : "";
  const std::vector<std::string>& kinds = convert::json_kind_names();
  const auto found = std::find(kinds.begin() + 1, kinds.end(), type);
  if (found == kinds.end()) fail(ExitCode::kInvalid, "{}: \"type\" is not the name of a type of JSON", where);
  return static_cast<JsonKind>(found - kinds.begin());
}

/// Reads an object's members. They are generated in the order of "required", then in alphabetical order.
void read_members(const Json& schema, const std::string& where, TextForm* form) {
  const Json& members = schema.at("properties");
  if (!members.is_object() || members.empty()) fail(ExitCode::kInvalid, "{}: \"properties\": wanted members", where);
  std::vector<std::string> names;
  if (has_field(schema, "required")) {
    Json copy = schema;
    if (!copy.at("required").empty()) names = strings_of(copy, "required");
  }
  for (const auto& [name, value] : members.items()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (const std::string& name : names) {
    const std::string place = fmt::format("{}: \"{}\"", where, convert::printable(name.substr(0, 80)));
    if (!members.contains(name)) fail(ExitCode::kInvalid, "{}: is required, but no property", place);
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return c >= ' ' && c <= '~' && c != '"' && c != '\\';
    });
    if (!plain) {
      fail(ExitCode::kInvalid, "{}: names are of printable ASCII, without quotation marks and backslashes", place);
    }
    form->fields.push_back({name, kind_of(members.at(name), place)});
  }
}

/// Reads "response_format": text, any JSON object, or JSON by a schema.
void read_form(const Json& request, TextForm* form) {
  if (!has_field(request, "response_format")) return;
  const Json& format = request.at("response_format");
  const std::string where = "\"response_format\"";
  const std::string type = format.is_object() && format.contains("type") ? string_of(format, "type") : "";
  if (type == "text") return;
  if (type == "json_object") {
    form->json = JsonKind::kObject;
    return;
  }
  if (type != "json_schema") {
    fail(ExitCode::kInvalid, "{}: wanted an object with \"type\": text, json_object or json_schema", where);
  }
  const Json& given = convert::member(format, "json_schema");
  if (!given.is_object() || !given.contains("schema")) {
    fail(ExitCode::kInvalid, "{}: \"json_schema\": wanted an object with \"schema\"", where);
  }
  Json schema = given.at("schema");
  if (schema.is_object() && schema.contains("properties")) {
    read_members(schema, where, form);
    for (const char* key : {"properties", "required", "additionalProperties"}) schema.erase(key);
    const JsonKind kind = kind_of(schema, where);
    if (kind != JsonKind::kObject && kind != JsonKind::kAny) {
      fail(ExitCode::kInvalid, "{}: \"properties\" are those of the type object", where);
    }
    return;
  }
  form->json = kind_of(schema, where);
}

void read_stops(Json& request, GenerateOptions* options) {
  if (!has_field(request, "stop")) return;
  const Json& stop = request.at("stop");
  if (stop.is_array() && stop.empty()) return;
  const std::vector<std::string> given = string_or_strings_of(request, "stop");
  if (given.size() > kMostStops) fail(ExitCode::kInvalid, "\"stop\": wanted at most {} texts", kMostStops);
  for (const std::string& text : given) {
    if (text.empty()) fail(ExitCode::kInvalid, "\"stop\": an empty text would end every text at once");
    options->stop.push_back(text);
  }
  if (options->form.is_given()) {
    fail(ExitCode::kInvalid,
         "\"stop\": a text would not be as \"response_format\" says if another one ended it; leave one of them out");
  }
}

/// Reads what both kinds of requests have.
GenerateOptions read_options(Json& request, Completion* out) {
  GenerateOptions options;
  options.max_new = number_of(request, "max_tokens", 1, kMostNew);
  options.temperature = fraction_of(request, "temperature", 0, 2).value_or(0);
  options.top_p = fraction_of(request, "top_p", 0, 1, true).value_or(1);
  options.min_p = fraction_of(request, "min_p", 0, 1).value_or(0);
  options.top_k = number_of(request, "top_k", 0, kMostNew).value_or(0);
  options.repetition_penalty = fraction_of(request, "repetition_penalty", 0, 100, true);
  if (has_field(request, "seed")) {
    const Json& seed = request.at("seed");
    if (!seed.is_number_integer()) fail(ExitCode::kInvalid, "\"seed\": wanted a whole number");
    options.seed = seed.is_number_unsigned() ? seed.get<uint64_t>() : static_cast<uint64_t>(seed.get<int64_t>());
  }
  read_form(request, &options.form);
  read_stops(request, &options);
  out->n = number_of(request, "n", 1, kMostChoices).value_or(1);
  out->streams = flag_of(request, "stream");
  if (has_field(request, "stream_options")) {
    const Json& given = request.at("stream_options");
    if (!given.is_object()) fail(ExitCode::kInvalid, "\"stream_options\": wanted an object");
    if (!out->streams) fail(ExitCode::kInvalid, "\"stream_options\": goes with \"stream\": true");
    convert::Problems problems;
    convert::refuse_unknown_keys(given, "\"stream_options\"", {"include_usage", "include_obfuscation"}, problems);
    problems.raise();
    out->usage = flag_of(given, "include_usage");
  }
  return options;
}

void resolve(const Model& model, const GenerateOptions& options, Completion* out) {
  try {
    out->decoding = convert::resolve_decoding(model, options);
  } catch (const convert::Error& error) {
    throw in_words_of_requests(error);
  }
  if (out->decoding.has_beams() && out->n != 1) {
    fail(ExitCode::kInvalid, "\"n\": the file searches with beams, which find one text; give \"temperature\", too");
  }
  if (out->choices() > kMostChoices) {
    fail(ExitCode::kInvalid, "\"n\": {} texts are asked for; a request may ask for {}", out->choices(), kMostChoices);
  }
}

std::string content_of(Json& message) {
  if (!has_field(message, "content")) fail(ExitCode::kInvalid, "\"messages\": a message has no \"content\"");
  Json& content = message.at("content");
  if (content.is_string()) return std::move(content.get_ref<std::string&>());
  std::string text;
  bool right = content.is_array() && !content.empty();
  for (size_t i = 0; right && i < content.size(); ++i) {
    const Json& part = content[i];
    right = part.is_object() && convert::member(part, "type") == "text" && convert::member(part, "text").is_string();
    if (right) text += part.at("text").get_ref<const std::string&>();
  }
  if (!right) fail(ExitCode::kInvalid, "\"messages\": \"content\" is a text, or a list of parts of the type text");
  return text;
}

std::vector<convert::Turn> turns_of(Json& request) {
  const auto messages = request.find("messages");
  if (messages == request.end()) fail(ExitCode::kInvalid, "\"messages\": missing");
  if (!messages->is_array()) fail(ExitCode::kInvalid, "\"messages\": wanted a list of messages");
  std::vector<convert::Turn> turns;
  for (Json& message : *messages) {
    if (!message.is_object()) fail(ExitCode::kInvalid, "\"messages\": wanted objects with \"role\" and \"content\"");
    for (const auto& [key, value] : message.items()) {
      // Clients send an answer back as they got it, with empty fields.
      if (key == "role" || key == "content" || key == "name" || has_no_effect(key, value)) continue;
      fail(ExitCode::kInvalid, "\"messages\": \"{}\" is not supported in a message; leave it out",
           convert::printable(key.substr(0, 80)));
    }
    const std::string role = string_of(message, "role");
    convert::Turn turn;
    if (role == "system" || role == "developer") {
      turn.role = ChatRole::kSystem;
    } else if (role == "assistant") {
      turn.role = ChatRole::kAssistant;
    } else if (role != "user") {
      fail(ExitCode::kInvalid, "\"messages\": the role \"{}\" is not known; system, user and assistant are",
           convert::printable(role.substr(0, 80)));
    }
    turn.text = content_of(message);
    turns.push_back(std::move(turn));
  }
  return turns;
}

const char* finish_of(Finish finish) { return finish == Finish::kEnd || finish == Finish::kStop ? "stop" : "length"; }

OrderedJson usage_of(uint64_t given, uint64_t made) {
  return {{"prompt_tokens", given}, {"completion_tokens", made}, {"total_tokens", given + made}};
}

}  // namespace

convert::Error in_words_of_requests(const convert::Error& error) {
  constexpr std::pair<const char*, const char*> kNames[] = {{"--max-new", "\"max_tokens\""},
                                                            {"--min-new", "the file's least number of tokens"},
                                                            {"--to", "\"to\""},
                                                            {"--from", "\"from\""},
                                                            {"--field", "\"response_format\""},
                                                            {"--format", "\"response_format\""}};
  std::vector<std::string> problems = error.problems();
  for (std::string& problem : problems) {
    for (const auto& [option, field] : kNames) {
      for (size_t at = 0; (at = problem.find(option, at)) != std::string::npos;) {
        problem.replace(at, std::string_view(option).size(), field);
      }
    }
  }
  return {error.code(), std::move(problems)};
}

Completion read_chat_completion(Json& request, const Model& model, const std::string& name) {
  check_fields(request, "/v1/chat/completions",
               {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "min_p",
                "repetition_penalty", "seed", "n", "stop", "stream", "stream_options", "response_format"});
  Completion out;
  out.chat = true;
  out.model = name;
  GenerateOptions options = read_options(request, &out);
  if (has_field(request, "max_completion_tokens")) {
    if (options.max_new) fail(ExitCode::kInvalid, "\"max_tokens\": goes without \"max_completion_tokens\"");
    options.max_new = number_of(request, "max_completion_tokens", 1, kMostNew);
  }
  out.texts = {convert::chat_text(model, turns_of(request))};
  const std::vector<std::string> stop = options.stop;
  convert::answer_turns(model, &options);
  // Texts of a required form end when the form is complete, so the chat's stop texts do not apply.
  if (options.form.is_given()) options.stop = stop;
  resolve(model, options, &out);
  return out;
}

Completion read_text_completion(Json& request, const Model& model, const std::string& name) {
  check_fields(request, "/v1/completions",
               {"model", "prompt", "max_tokens", "temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed",
                "n", "stop", "stream", "stream_options", "response_format", "from", "to"});
  Completion out;
  out.model = name;
  GenerateOptions options = read_options(request, &out);
  if (has_field(request, "from")) options.from = string_of(request, "from");
  if (has_field(request, "to")) options.to = string_of(request, "to");
  if (holds_tokens(request, "prompt")) {
    if (model.source_vocabulary() != 0) fail(ExitCode::kInvalid, "\"prompt\": this file takes texts, not tokens");
    out.tokens = tokens_of(request, "prompt", model.vocabulary());
  } else {
    out.texts = string_or_strings_of(request, "prompt");
  }
  resolve(model, options, &out);
  return out;
}

std::string event_of(std::string json) {
  while (!json.empty() && json.back() == '\n') json.pop_back();
  return "data: " + json + "\n\n";
}

CompletionWriter::CompletionWriter(const Completion& completion)
    : completion_(completion), created_(std::time(nullptr)) {
  static std::atomic<uint64_t> count{0};
  id_ = fmt::format("{}-{:x}-{}", completion.chat ? "chatcmpl" : "cmpl", created_, ++count);
}

OrderedJson CompletionWriter::object(const char* kind) const {
  OrderedJson object;
  object["id"] = id_;
  object["object"] = kind;
  object["created"] = created_;
  object["model"] = completion_.model;
  return object;
}

std::string CompletionWriter::whole(const std::vector<MadeChoice>& choices, uint64_t given, uint64_t made) const {
  OrderedJson all = object(completion_.chat ? "chat.completion" : "text_completion");
  OrderedJson list = OrderedJson::array();
  for (size_t i = 0; i < choices.size(); ++i) {
    OrderedJson one;
    one["index"] = i;
    if (completion_.chat) {
      one["message"] = {{"role", "assistant"}, {"content", choices[i].text}, {"refusal", nullptr}};
    } else {
      one["text"] = choices[i].text;
    }
    one["logprobs"] = nullptr;
    one["finish_reason"] = finish_of(choices[i].finish);
    list.push_back(std::move(one));
  }
  all["choices"] = std::move(list);
  all["usage"] = usage_of(given, made);
  return one_line(all) + "\n";
}

std::string CompletionWriter::event(size_t choice, OrderedJson content, const char* finish) const {
  OrderedJson all = object(completion_.chat ? "chat.completion.chunk" : "text_completion");
  OrderedJson one;
  one["index"] = choice;
  one[completion_.chat ? "delta" : "text"] = std::move(content);
  one["logprobs"] = nullptr;
  one["finish_reason"] = finish == nullptr ? OrderedJson() : OrderedJson(finish);
  all["choices"] = OrderedJson::array({std::move(one)});
  if (completion_.usage) all["usage"] = nullptr;
  return event_of(one_line(all));
}

std::string CompletionWriter::begin(size_t choice) const {
  return completion_.chat ? event(choice, {{"role", "assistant"}, {"content", ""}}, nullptr) : "";
}

std::string CompletionWriter::piece(size_t choice, std::string_view text) const {
  OrderedJson content = std::string(text);
  if (completion_.chat) content = {{"content", std::move(content)}};
  return event(choice, std::move(content), nullptr);
}

std::string CompletionWriter::end(size_t choice, Finish finish) const {
  return event(choice, completion_.chat ? OrderedJson::object() : OrderedJson(""), finish_of(finish));
}

std::string CompletionWriter::last(uint64_t given, uint64_t made) const {
  std::string text;
  if (completion_.usage) {
    OrderedJson all = object(completion_.chat ? "chat.completion.chunk" : "text_completion");
    all["choices"] = OrderedJson::array();
    all["usage"] = usage_of(given, made);
    text = event_of(one_line(all));
  }
  return text + "data: [DONE]\n\n";
}

}  // namespace bantam::serve
