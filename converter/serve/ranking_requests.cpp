#include "serve/ranking_requests.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "score/pair_scores.h"
#include "serve/request_fields.h"

namespace bantam::serve {
namespace {

using convert::Json;
using convert::OrderedJson;

/// The fields of a ranking request, whose lists are also used for the reply.
struct Ranking {
  std::string query, label, model;
  std::vector<std::string> texts;
  size_t top = 0;
  bool with_texts = false;
};

/// Ranks on the model's thread; `reply` receives the best texts.
template <typename MakeReply>
void push_ranking(std::shared_ptr<Ranking> asked, const Worker& model, Job* job, const MakeReply& make) {
  convert::require_ranking(model.file(), "\"label\"", asked->label);
  asked->top = std::min(asked->top, asked->texts.size());
  job->room = asked->texts.size();
  job->work = [asked = std::move(asked), make](convert::Engine& engine) {
    bool truncated = false;
    std::vector<convert::ScoredText> ranked =
        rank_texts(engine, "\"label\"", asked->label, asked->query, asked->texts, &truncated);
    ranked.resize(asked->top);
    return make(*asked, ranked, truncated);
  };
}

void read_own(const std::string& path, Json& request, const Worker& model, Job* job) {
  refuse_unknown(request, path, {"query", "texts", "label", "top", "model"});
  const auto asked = std::make_shared<Ranking>();
  asked->query = string_of(request, "query");
  asked->texts = strings_of(request, "texts");
  asked->label = request.contains("label") ? string_of(request, "label") : "";
  asked->top = top_of(request).value_or(asked->texts.size());
  push_ranking(asked, model, job,
               [](const Ranking& done, const std::vector<convert::ScoredText>& ranked, bool truncated) {
                 return json_reply(convert::ranked_json(done.query, done.texts, ranked, truncated));
               });
}

/// Reads the request of text-embeddings-inference: a list of positions and scores.
void read_tei(const std::string& path, Json& request, const Worker& model, Job* job) {
  refuse_unknown(request, path,
                 {"query", "texts", "raw_scores", "return_text", "truncate", "truncation_direction", "model"});
  refuse_flag(request, "raw_scores", true, "scores are those of /rank; leave it out");
  check_truncation(request);
  const auto asked = std::make_shared<Ranking>();
  asked->query = string_of(request, "query");
  asked->texts = strings_of(request, "texts");
  asked->top = asked->texts.size();
  asked->with_texts = flag_of(request, "return_text");
  push_ranking(asked, model, job, [](const Ranking& done, const std::vector<convert::ScoredText>& ranked, bool) {
    OrderedJson list = OrderedJson::array();
    for (const convert::ScoredText& one : ranked) {
      list.push_back({{"index", one.number}, {"score", one.score}});
      if (done.with_texts) list.back()["text"] = done.texts[one.number];
    }
    return json_reply(list);
  });
}

/// Reads the request of Jina's API, whose documents are strings or objects with a text.
void read_jina(const std::string& path, Json& request, const Worker& model, Job* job) {
  refuse_unknown(request, path, {"query", "documents", "top_n", "return_documents", "model", "truncation"});
  refuse_flag(request, "truncation", false, "texts are cut where the model ends; leave it out");
  if (request.contains("documents") && request.at("documents").is_array()) {
    for (Json& document : request.at("documents")) {
      if (!document.is_object() || document.size() != 1 || !document.contains("text")) continue;
      Json text = std::move(document.at("text"));
      document = std::move(text);
    }
  }
  const auto asked = std::make_shared<Ranking>();
  asked->model = model.name();
  asked->query = string_of(request, "query");
  asked->texts = strings_of(request, "documents");
  asked->top = number_of(request, "top_n", 1, UINT32_MAX).value_or(UINT32_MAX);
  asked->with_texts = !has_field(request, "return_documents") || flag_of(request, "return_documents");
  push_ranking(asked, model, job, [](const Ranking& done, const std::vector<convert::ScoredText>& ranked, bool) {
    OrderedJson object;
    object["model"] = done.model;
    object["object"] = "list";
    OrderedJson list = OrderedJson::array();
    for (const convert::ScoredText& one : ranked) {
      list.push_back({{"index", one.number}, {"relevance_score", one.score}});
      if (done.with_texts) list.back()["document"] = {{"text", done.texts[one.number]}};
    }
    object["results"] = std::move(list);
    return json_reply(object);
  });
}

}  // namespace

void read_ranking(const std::string& path, Json& request, const Worker& model, Job* job) {
  if (path == "/rank") return read_own(path, request, model, job);
  request.contains("documents") ? read_jina(path, request, model, job) : read_tei(path, request, model, job);
}

}  // namespace bantam::serve
