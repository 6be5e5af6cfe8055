#include "serve/routes.h"

#include <fmt/format.h>

#include <utility>

#include "base/known_keys.h"
#include "base/status_error.h"
#include "base/text_positions.h"
#include "score/pair_scores.h"

namespace bantam::serve {

using convert::ExitCode;
using convert::fail;
using convert::Input;
using convert::Json;
using convert::OrderedJson;
using convert::PositionUnit;
using convert::Prediction;
using convert::Predictor;

enum class Kind : uint8_t { kHelp, kHealth, kMetrics, kModels, kTexts, kRank, kEmbeddings };

struct Endpoint {
  const char* path;
  const char* method;
  Kind kind;
  uint32_t parts;  // that it is for
  const char* body;
};

namespace {

constexpr Endpoint kEndpoints[] = {
    {"/", "GET", Kind::kHelp, 0, "this list"},
    {"/health", "GET", Kind::kHealth, 0, "{\"status\": \"ok\"}"},
    {"/metrics", "GET", Kind::kMetrics, 0, "counters for Prometheus"},
    {"/v1/models", "GET", Kind::kModels, 0, "the files, by their names"},
    {"/run", "POST", Kind::kTexts, ~0U, "{\"text\": T} or {\"texts\": [T]}: all that the file says"},
    {"/classify", "POST", Kind::kTexts, kLabelsPart | kFollowsPart, "the same, and \"pair\": labels of texts or pairs"},
    {"/tag", "POST", Kind::kTexts, kWordsPart, "the same, and \"offsets\": bytes, chars or utf16"},
    {"/answer", "POST", Kind::kTexts, kSpanPart, "{\"question\": T, \"context\": T}"},
    {"/embed", "POST", Kind::kTexts, kVectorPart | kTermsPart | kTokenVectorsPart, "{\"text\": T} or {\"texts\": [T]}"},
    {"/fill", "POST", Kind::kTexts, kMasksPart, "{\"text\": T} or {\"texts\": [T]}"},
    {"/rank", "POST", Kind::kRank, kLabelsPart | kTokenVectorsPart | kTermsPart,
     "{\"query\": T, \"texts\": [T]}, and \"label\", \"top\""},
    {"/v1/embeddings", "POST", Kind::kEmbeddings, kVectorPart,
     "{\"input\": T or [T], \"model\": NAME}, as OpenAI's API has it, with \"dimensions\"; and \"prompt_name\": "
     "\"query\" or \"document\""},
};

constexpr const char* kModelsPath = "/models/";

const Endpoint* endpoint_of(const std::string& path) {
  for (const Endpoint& endpoint : kEndpoints) {
    if (path == endpoint.path) return &endpoint;
  }
  return nullptr;
}

bool fits(const Worker& model, const Endpoint& endpoint) {
  const uint32_t parts = model.parts(endpoint.parts);
  // What judges pairs has labels of whole texts, and nothing else.
  if (endpoint.kind != Kind::kRank || (parts & (kTokenVectorsPart | kTermsPart)) != 0) return parts != 0;
  return parts == kLabelsPart && model.parts(~0U) == kLabelsPart;
}

std::string string_of(const Json& request, const char* field) {
  const auto it = request.find(field);
  if (it == request.end()) fail(ExitCode::kInvalid, "\"{}\": missing", field);
  if (!it->is_string()) fail(ExitCode::kInvalid, "\"{}\": wanted a string", field);
  return it->get<std::string>();
}

std::vector<std::string> strings_of(const Json& request, const char* field) {
  const auto it = request.find(field);
  if (it == request.end()) fail(ExitCode::kInvalid, "\"{}\": missing", field);
  std::vector<std::string> strings;
  bool right = it->is_array() && !it->empty();
  for (size_t i = 0; right && i < it->size(); ++i) {
    right = (*it)[i].is_string();
    if (right) strings.push_back((*it)[i].get<std::string>());
  }
  if (!right) fail(ExitCode::kInvalid, "\"{}\": wanted a list of one string or more", field);
  return strings;
}

void refuse_unknown(const Json& request, const Target& target, const std::vector<std::string>& known) {
  convert::Problems problems;
  convert::refuse_unknown_keys(request, "the request to " + target.name, known, problems);
  problems.raise();
}

PositionUnit unit_of(const Json& request) {
  if (!request.contains("offsets")) return PositionUnit::kBytes;
  const std::string word = string_of(request, "offsets");
  if (word == "bytes") return PositionUnit::kBytes;
  if (word == "chars") return PositionUnit::kCharacters;
  if (word == "utf16") return PositionUnit::kUtf16;
  fail(ExitCode::kInvalid, "\"offsets\": \"{}\": wanted bytes, chars or utf16", word);
}

/// The texts of a request, and whether they are a list.
std::vector<Input> inputs_of(const Json& request, bool* list) {
  *list = request.contains("texts");
  std::optional<std::string> second;
  if (request.contains("question") || request.contains("context")) {
    if (*list || request.contains("text") || request.contains("pair"))
      fail(ExitCode::kInvalid, "\"question\" and \"context\": go without text, texts and pair");
    return {{string_of(request, "question"), string_of(request, "context")}};
  }
  if (request.contains("pair")) second = string_of(request, "pair");
  if (!*list) return {{string_of(request, "text"), second}};
  if (request.contains("text")) fail(ExitCode::kInvalid, "\"text\": goes without \"texts\"");
  std::vector<Input> inputs;
  for (std::string& text : strings_of(request, "texts")) inputs.push_back({std::move(text), second});
  return inputs;
}

void check_second(const std::vector<Input>& inputs, uint32_t parts) {
  const bool second = inputs.front().second.has_value();
  if (second && !convert::takes_second(parts)) fail(ExitCode::kInvalid, "\"pair\": the file answers one text");
  if (!second && convert::needs_second(parts)) {
    fail(ExitCode::kInvalid, (parts & kSpanPart) != 0 ? "\"question\" and \"context\": missing"
                                                      : "\"pair\": missing; the file compares two texts");
  }
}

/// Command line and server say the same: an object an input, as --json prints it.
Reply answer_texts(const std::string& command, const std::vector<Input>& inputs, PositionUnit unit, bool list,
                   const Predictor& predictor, const std::vector<Prediction>& predictions) {
  OrderedJson all = OrderedJson::array();
  for (size_t i = 0; i < inputs.size(); ++i) {
    convert::require_answer(predictor, inputs[i], predictions[i]);
    OrderedJson object = convert::json_object(command);
    convert::put_answer(predictor, inputs[i], predictions[i], unit, &object);
    if (!list) return json_reply(object);
    all.push_back(std::move(object));
  }
  OrderedJson object;
  object["answers"] = std::move(all);
  return json_reply(object);
}

void read_texts(const Target& target, const Json& request, Worker& model, Job* job) {
  refuse_unknown(request, target, {"text", "texts", "pair", "question", "context", "offsets", "model"});
  bool list = false;
  const PositionUnit unit = unit_of(request);
  job->inputs = inputs_of(request, &list);
  job->parts = model.parts(target.endpoint->parts);
  check_second(job->inputs, job->parts);
  job->answer = [command = target.name.substr(1), inputs = job->inputs, unit, list](
                    const Predictor& predictor, const std::vector<Prediction>& predictions) {
    return answer_texts(command, inputs, unit, list, predictor, predictions);
  };
}

void read_rank(const Target& target, const Json& request, Worker& model, Job* job) {
  refuse_unknown(request, target, {"query", "texts", "label", "top", "model"});
  const std::string query = string_of(request, "query");
  const std::vector<std::string> texts = strings_of(request, "texts");
  const std::string label = request.contains("label") ? string_of(request, "label") : "";
  size_t top = texts.size();
  if (request.contains("top")) {
    const Json& value = request.at("top");
    if (!value.is_number_unsigned() || value == 0U) fail(ExitCode::kInvalid, "\"top\": wanted a number from 1 on");
    top = static_cast<size_t>(std::min<uint64_t>(value.get<uint64_t>(), top));
  }
  convert::require_ranking(model.file(), "\"label\"", label);
  for (const std::string& text : texts) job->inputs.push_back({query, text});  // the room that they take
  job->work = [query, texts, label, top](convert::Engine& engine) {
    bool truncated = false;
    std::vector<convert::ScoredText> ranked = rank_texts(engine, "\"label\"", label, query, texts, &truncated);
    ranked.resize(top);
    return json_reply(convert::ranked_json(query, texts, ranked, truncated));
  };
}

/// `dimensions`: numbers of a vector that are kept, 0: all.
Reply answer_embeddings(const std::string& model, bool as_base64, size_t dimensions,
                        const std::vector<Prediction>& predictions) {
  OrderedJson data = OrderedJson::array();
  size_t tokens = 0;
  for (size_t i = 0; i < predictions.size(); ++i) {
    OrderedJson one;
    one["object"] = "embedding";
    one["index"] = i;
    std::vector<float> vector = predictions[i].embedding;
    if (dimensions != 0 && dimensions < vector.size()) vector.resize(dimensions);
    if (as_base64) {
      one["embedding"] = base64(vector);
    } else {
      one["embedding"] = std::move(vector);
    }
    data.push_back(std::move(one));
    tokens += predictions[i].rows;
  }
  OrderedJson object;
  object["object"] = "list";
  object["data"] = std::move(data);
  object["model"] = model;
  object["usage"] = {{"prompt_tokens", tokens}, {"total_tokens", tokens}};
  return json_reply(object);
}

void read_embeddings(const Target& target, const Json& request, Worker& model, Job* job) {
  refuse_unknown(request, target, {"input", "model", "encoding_format", "user", "dimensions", "prompt_name"});
  if (request.contains("input") && request.at("input").is_string()) {
    job->inputs.push_back({string_of(request, "input"), std::nullopt});
  } else {
    for (std::string& text : strings_of(request, "input")) job->inputs.push_back({std::move(text), std::nullopt});
  }
  const std::string format = request.contains("encoding_format") ? string_of(request, "encoding_format") : "float";
  if (format != "float" && format != "base64")
    fail(ExitCode::kInvalid, "\"encoding_format\": \"{}\": wanted float or base64", format);
  const uint32_t width = convert::embedding_width(model.file().model());
  uint64_t dimensions = 0;
  if (request.contains("dimensions")) {
    const Json& wanted = request.at("dimensions");
    if (wanted.is_number_unsigned()) dimensions = wanted.get<uint64_t>();
    if (dimensions == 0 || dimensions > width)
      fail(ExitCode::kInvalid, "\"dimensions\": wanted a whole number from 1 to {}", width);
  }
  if (request.contains("prompt_name")) {
    const std::string name = string_of(request, "prompt_name");
    if (name != "query" && name != "document")
      fail(ExitCode::kInvalid, "\"prompt_name\": \"{}\": wanted query or document", name);
    job->role = name == "query" ? TextRole::kQuery : TextRole::kDocument;
  }
  job->parts = model.parts(kVectorPart);
  job->answer = [name = model.name(), as_base64 = format == "base64", dimensions](
                    const Predictor&, const std::vector<Prediction>& predictions) {
    return answer_embeddings(name, as_base64, dimensions, predictions);
  };
}

}  // namespace

Routes::Routes(std::vector<std::unique_ptr<Worker>> models, Metrics* metrics)
    : models_(std::move(models)), metrics_(metrics) {}

bool Routes::find(const std::string& path, const std::string& method, Target* target, Reply* refusal) const {
  *target = {};
  target->name = "other";
  std::string rest = path;
  if (path.compare(0, std::string_view(kModelsPath).size(), kModelsPath) == 0) {
    const size_t begin = std::string_view(kModelsPath).size(), end = path.find('/', begin);
    target->model = path.substr(begin, end == std::string::npos ? end : end - begin);
    rest = end == std::string::npos ? "" : path.substr(end);
  }
  const Endpoint* const endpoint = endpoint_of(rest);
  const bool wrong = endpoint == nullptr || (!target->model.empty() && std::string_view(endpoint->method) == "GET");
  if (wrong) {
    std::string paths;
    for (const Endpoint& one : kEndpoints)
      paths += fmt::format("{}{} {}", paths.empty() ? "" : ", ", one.method, one.path);
    *refusal = error_reply(
        404, fmt::format("there is no such path; there are {}, and /models/NAME before those of POST", paths));
    return false;
  }
  const std::string_view wanted = endpoint->method;
  if (method != wanted && !(wanted == "GET" && method == "HEAD")) {
    *refusal = error_reply(405, fmt::format("{}: takes {}, not this method", endpoint->path, wanted));
    refusal->allow = wanted == "GET" ? "GET, HEAD" : "POST";
    return false;
  }
  target->endpoint = endpoint;
  target->name = endpoint->path;
  return true;
}

bool Routes::takes_texts(const Target& target) { return std::string_view(target.endpoint->method) == "POST"; }

Reply Routes::get(const Target& target) const {
  switch (target.endpoint->kind) {
    case Kind::kHelp:
    case Kind::kMetrics: {
      Reply reply;
      const bool help = target.endpoint->kind == Kind::kHelp;
      reply.type = help ? "text/plain; charset=utf-8" : "text/plain; version=0.0.4";
      reply.body = help ? this->help() : metrics_->text();
      return reply;
    }
    case Kind::kModels: {
      OrderedJson list = OrderedJson::array();
      for (const std::unique_ptr<Worker>& model : models_) {
        list.push_back({{"id", model->name()},
                        {"object", "model"},
                        {"created", 0},
                        {"owned_by", "bantam"},
                        {"task", convert::task_name(model->file().model().task())}});
      }
      OrderedJson object;
      object["object"] = "list";
      object["data"] = std::move(list);
      return json_reply(object);
    }
    default: {
      OrderedJson object;
      object["status"] = "ok";
      return json_reply(object);
    }
  }
}

Worker& Routes::model_for(const Target& target, const Json& request) const {
  std::string name = target.model;
  if (request.contains("model")) {
    const std::string said = string_of(request, "model");
    if (!name.empty() && said != name) fail(ExitCode::kInvalid, "\"model\": names another one than the path");
    name = said;
  }
  std::string names;
  for (const std::unique_ptr<Worker>& model : models_) names += (names.empty() ? "" : ", ") + model->name();
  for (const std::unique_ptr<Worker>& model : models_) {
    if (!name.empty() ? model->name() != name : !fits(*model, *target.endpoint)) continue;
    if (fits(*model, *target.endpoint)) return *model;
    fail(ExitCode::kUnsupported, "{}: its task is \"{}\"; POST to /run", name,
         convert::task_name(model->file().model().task()));
  }
  if (!name.empty()) fail(ExitCode::kInvalid, "\"model\": there is no \"{}\"; there are {}", name, names);
  fail(ExitCode::kUnsupported, "{}: none of the files is for that: {}; POST to /run", target.name, names);
}

Worker& Routes::read(const Target& target, const std::string& body, Job* job) const {
  const Json request = convert::parse_json(body, "the request's body");
  if (!request.is_object()) fail(ExitCode::kInvalid, "the request's body: wanted a JSON object");
  Worker& model = model_for(target, request);
  switch (target.endpoint->kind) {
    case Kind::kRank:
      read_rank(target, request, model, job);
      break;
    case Kind::kEmbeddings:
      read_embeddings(target, request, model, job);
      break;
    default:
      read_texts(target, request, model, job);
  }
  return model;
}

std::string Routes::help() const {
  std::string text = "bantam serve. Files:\n";
  for (const std::unique_ptr<Worker>& model : models_) {
    text += fmt::format("  {}  ({})\n", model->name(), convert::task_name(model->file().model().task()));
  }
  text += "Paths; those of POST take \"model\": NAME in their JSON, or /models/NAME in front:\n";
  for (const Endpoint& endpoint : kEndpoints) {
    text += fmt::format("  {:<4} {:<15} {}\n", endpoint.method, endpoint.path, endpoint.body);
  }
  return text;
}

}  // namespace bantam::serve
