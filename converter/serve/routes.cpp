#include "serve/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bantam/chat.h"
#include "base/known_keys.h"
#include "base/status_error.h"
#include "base/text_positions.h"
#include "run/answer_json.h"
#include "serve/embedding_requests.h"
#include "serve/ranking_requests.h"
#include "serve/request_fields.h"

namespace bantam::serve {

using convert::ExitCode;
using convert::fail;
using convert::Input;
using convert::Json;
using convert::OrderedJson;
using convert::PositionUnit;
using convert::Prediction;
using convert::Predictor;

enum class Kind : uint8_t {
  kHelp,
  kHealth,
  kMetrics,
  kModels,
  kTexts,
  kRank,
  kSearch,
  kEmbeddings,
  kChat,
  kCompletions
};

struct Endpoint {
  const char* path;
  const char* method;
  Kind kind;
  uint32_t parts;  // the parts that it answers
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
    {"/embed", "POST", Kind::kTexts, kVectorPart | kTermsPart | kTokenVectorsPart,
     "{\"text\": T} or {\"texts\": [T]}; {\"inputs\": T or [T]} as text-embeddings-inference has it"},
    {"/fill", "POST", Kind::kTexts, kMasksPart, "{\"text\": T} or {\"texts\": [T]}"},
    {"/rerank", "POST", Kind::kRank, kLabelsPart | kTokenVectorsPart | kTermsPart,
     "{\"query\": T, \"texts\": [T]} as text-embeddings-inference has it, or \"documents\" as Jina has it"},
    {"/v1/rerank", "POST", Kind::kRank, kLabelsPart | kTokenVectorsPart | kTermsPart, "the same"},
    {"/rank", "POST", Kind::kRank, kLabelsPart | kTokenVectorsPart | kTermsPart,
     "{\"query\": T, \"texts\": [T]}, and \"label\", \"top\""},
    {"/search", "POST", Kind::kSearch, kVectorPart | kTermsPart,
     "{\"query\": T} or {\"queries\": [T]}, and \"top\", \"where\": {FIELD: VALUE}, \"index\": NAME"},
    {"/v1/embeddings", "POST", Kind::kEmbeddings, kVectorPart,
     "{\"input\": T or [T], \"model\": NAME}, as OpenAI's API has it, with \"dimensions\"; and \"prompt_name\": "
     "\"query\" or \"document\""},
    {"/v1/chat/completions", "POST", Kind::kChat, 0,
     "{\"messages\": [{\"role\": R, \"content\": T}]}, as OpenAI's API"},
    {"/v1/completions", "POST", Kind::kCompletions, 0, "{\"prompt\": T or [T]}, as OpenAI's API has it"},
};

constexpr const char* kModelsPath = "/models/";

/// A request takes at most 8 times its bytes plus 16 MB of memory for its values, its texts and its reply.
constexpr size_t kMostOther = 64;  // items other than texts
constexpr size_t kMostTokens = size_t{1} << 16;
constexpr size_t kMostReply = size_t{8} << 20;

const Endpoint* endpoint_of(const std::string& path) {
  for (const Endpoint& endpoint : kEndpoints) {
    if (path == endpoint.path) return &endpoint;
  }
  return nullptr;
}

bool fits(const Worker& model, const Endpoint& endpoint) {
  if (endpoint.kind == Kind::kCompletions) return model.makes_texts();
  if (endpoint.kind == Kind::kChat) return model.makes_texts() && has_chat(model.file().model());
  const uint32_t parts = model.parts(endpoint.parts);
  // A model that judges pairs has only labels of whole texts.
  if (endpoint.kind != Kind::kRank || (parts & (kTokenVectorsPart | kTermsPart)) != 0) return parts != 0;
  return parts == kLabelsPart && model.parts(~0U) == kLabelsPart;
}

/// Estimates the number of items of lists and members of objects in a JSON text by counting commas outside of strings.
/// Parsing makes a value for each.
size_t count_items(std::string_view text) {
  size_t items = 0;
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      inside = !inside;
    } else if (c == '\\' && inside) {
      ++i;
    } else if (!inside && (c == ',' || c == '[' || c == '{')) {
      ++items;
    }
  }
  return items;
}

PositionUnit unit_of(const Json& request) {
  if (!request.contains("offsets")) return PositionUnit::kBytes;
  const std::string word = string_of(request, "offsets");
  if (word == "bytes") return PositionUnit::kBytes;
  if (word == "chars") return PositionUnit::kCharacters;
  if (word == "utf16") return PositionUnit::kUtf16;
  fail(ExitCode::kInvalid, "\"offsets\": \"{}\": wanted bytes, chars or utf16", word);
}

/// Moves the texts of a request to the job. Returns true if they are a list.
bool read_texts_of(Json& request, Job* job) {
  const bool list = request.contains("texts");
  if (request.contains("question") || request.contains("context")) {
    if (list || request.contains("text") || request.contains("pair"))
      fail(ExitCode::kInvalid, "\"question\" and \"context\": go without text, texts and pair");
    job->texts = {string_of(request, "question")};
    job->second = std::make_shared<const std::string>(string_of(request, "context"));
    return false;
  }
  if (request.contains("pair")) job->second = std::make_shared<const std::string>(string_of(request, "pair"));
  if (!list) {
    job->texts = {string_of(request, "text")};
    return false;
  }
  if (request.contains("text")) fail(ExitCode::kInvalid, "\"text\": goes without \"texts\"");
  job->texts = strings_of(request, "texts");
  return true;
}

void check_second(bool second, uint32_t parts) {
  if (second && !convert::takes_second(parts)) fail(ExitCode::kInvalid, "\"pair\": the file answers one text");
  if (!second && convert::needs_second(parts)) {
    fail(ExitCode::kInvalid, (parts & kSpanPart) != 0 ? "\"question\" and \"context\": missing"
                                                      : "\"pair\": missing; the file compares two texts");
  }
}

/// Writes one object per input, as --json of the command line prints it.
class TextsWriter final : public BodyWriter {
 public:
  TextsWriter(std::string command, PositionUnit unit, bool list)
      : command_(std::move(command)), unit_(unit), list_(list) {}

  void put(const Predictor& predictor, const Input& input, const Prediction& prediction, std::string* body) override {
    convert::require_answer(predictor, input, prediction);
    OrderedJson object = convert::json_object(command_);
    convert::put_answer(predictor, input, prediction, unit_, &object);
    if (list_) *body += body->empty() ? "{\"answers\":[" : ",";
    *body += convert::one_line(object);
  }
  void finish(std::string* body) override { *body += list_ ? "]}\n" : "\n"; }

 private:
  std::string command_;
  PositionUnit unit_;
  bool list_;
};

void read_texts(const Target& target, Json& request, Worker& model, Job* job) {
  refuse_unknown(request, target.name, {"text", "texts", "pair", "question", "context", "offsets", "model"});
  const PositionUnit unit = unit_of(request);
  const bool list = read_texts_of(request, job);
  job->parts = model.parts(target.endpoint->parts);
  check_second(job->second != nullptr, job->parts);
  job->writer = std::make_unique<TextsWriter>(target.name.substr(1), unit, list);
}

}  // namespace

Routes::Routes(std::vector<std::unique_ptr<Worker>> models, std::vector<std::unique_ptr<ServedIndex>> indexes,
               Metrics* metrics)
    : indexes_(std::move(indexes)), models_(std::move(models)), metrics_(metrics) {}

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
    refusal->fields = wanted == "GET" ? "Allow: GET, HEAD\r\n" : "Allow: POST\r\n";
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
    if (target.endpoint->kind == Kind::kChat && model->makes_texts()) {
      fail(ExitCode::kUnsupported, "{}: the file does not say how conversations become texts; POST to /v1/completions",
           name);
    }
    fail(ExitCode::kUnsupported, "{}: its task is \"{}\"; POST to {}", name,
         convert::task_name(model->file().model().task()), model->parts(~0U) == 0 ? "/v1/completions" : "/run");
  }
  if (!name.empty()) throw NotFound(fmt::format("\"model\": this server has no \"{}\"; it has {}", name, names));
  fail(ExitCode::kUnsupported, "{}: none of the files is for that: {}; POST to /run", target.name, names);
}

const ServedIndex& Routes::index_for(const Target& target, const Json& request) const {
  if (indexes_.empty()) fail(ExitCode::kUnsupported, "/search: there is no index; start the server with --index");
  const std::string name = request.contains("index") ? string_of(request, "index") : "";
  std::string model = request.contains("model") ? string_of(request, "model") : "";
  if (!target.model.empty() && !model.empty() && model != target.model)
    fail(ExitCode::kInvalid, "\"model\": names another one than the path");
  if (model.empty()) model = target.model;
  std::string names;
  for (const std::unique_ptr<ServedIndex>& one : indexes_) {
    names += fmt::format("{}{} (of {})", names.empty() ? "" : ", ", one->name(), one->model().name());
    if ((name.empty() || one->name() == name) && (model.empty() || one->model().name() == model)) return *one;
  }
  fail(ExitCode::kInvalid, "{}: there is no such index{}; there are {}",
       name.empty() ? "\"model\"" : fmt::format("\"index\": \"{}\"", name),
       model.empty() ? "" : fmt::format(" of \"{}\"", model), names);
}

Worker& Routes::read_search(const Target& target, Json& request, Job* job) const {
  constexpr uint64_t kMostHits = 10000;
  refuse_unknown(request, target.name, {"query", "queries", "top", "where", "index", "model"});
  const ServedIndex& index = index_for(target, request);
  SearchRequest asked;
  const uint64_t top = top_of(request).value_or(asked.top);
  if (top > kMostHits) fail(ExitCode::kInvalid, "\"top\": wanted a number from 1 to {}", kMostHits);
  asked.top = static_cast<uint32_t>(top);
  if (request.contains("where")) asked.where = convert::read_conditions(request.at("where"), "\"where\"");
  asked.list = request.contains("queries");
  if (asked.list && request.contains("query")) fail(ExitCode::kInvalid, "\"query\": goes without \"queries\"");
  job->texts = asked.list ? strings_of(request, "queries") : std::vector<std::string>{string_of(request, "query")};
  job->parts = index.model().parts(target.endpoint->parts);
  job->role = TextRole::kQuery;
  job->writer = hits_writer(index, std::move(asked));
  return index.model();
}

Worker* Routes::read(const Target& target, std::string body, Job* job, Reply* refusal) const {
  size_t most = 0;
  for (const std::unique_ptr<Worker>& one : models_) most = std::max(most, one->queue());
  // Check the size before parsing. Tokens are small, so more of them may come.
  const bool tokens = target.endpoint->kind == Kind::kEmbeddings || target.endpoint->kind == Kind::kCompletions;
  if (count_items(body) > (tokens ? std::max(most, kMostTokens) : most) + kMostOther) {
    *refusal = error_reply(413, "the request has more texts than --queue allows, or other lists; send fewer at a time");
    return nullptr;
  }
  Json request = convert::parse_json(body, "the request's body");
  job->most_reply = kMostReply + 2 * body.size();
  std::string().swap(body);
  if (!request.is_object()) fail(ExitCode::kInvalid, "the request's body: wanted a JSON object");
  const bool searches = target.endpoint->kind == Kind::kSearch;
  Worker& model = searches ? read_search(target, request, job) : model_for(target, request);
  switch (target.endpoint->kind) {
    case Kind::kSearch:
      break;
    case Kind::kRank:
      read_ranking(target.name, request, model, job);
      break;
    case Kind::kChat:
      job->completion = std::make_unique<Completion>(read_chat_completion(request, model.file().model(), model.name()));
      break;
    case Kind::kCompletions:
      job->completion = std::make_unique<Completion>(read_text_completion(request, model.file().model(), model.name()));
      break;
    case Kind::kEmbeddings:
      read_embeddings(target.name, request, model, job);
      break;
    default:
      if (target.name == "/embed" && request.contains("inputs")) {
        read_inputs(target.name, request, model, job);
      } else {
        read_texts(target, request, model, job);
      }
  }
  if (job->queued() > model.queue()) {
    *refusal = error_reply(413, "the request has more texts than --queue allows; send fewer at a time");
    return nullptr;
  }
  // Each answer contains the second text.
  if (job->second != nullptr && job->second->size() > job->most_reply / job->texts.size()) {
    *refusal = too_large_reply();
    return nullptr;
  }
  return &model;
}

std::string Routes::help() const {
  std::string text = "bantam serve. Files:\n";
  for (const std::unique_ptr<Worker>& model : models_) {
    text += fmt::format("  {}  ({})\n", model->name(), convert::task_name(model->file().model().task()));
  }
  if (!indexes_.empty()) text += "Indexes:\n";
  for (const std::unique_ptr<ServedIndex>& index : indexes_) {
    text += fmt::format("  {}  (of {})\n", index->name(), index->model().name());
  }
  text += "Paths; those of POST take \"model\": NAME in their JSON, or /models/NAME in front:\n";
  for (const Endpoint& endpoint : kEndpoints) {
    text += fmt::format("  {:<4} {:<20} {}\n", endpoint.method, endpoint.path, endpoint.body);
  }
  return text;
}

}  // namespace bantam::serve
