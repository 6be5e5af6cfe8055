#include "score/pair_scores.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

#include "base/printable.h"
#include "base/status_error.h"
#include "format/view.h"
#include "run/term_weights.h"
#include "run/token_vectors.h"

namespace bantam::convert {
namespace {

PredictOptions with_logits() {
  PredictOptions options;
  options.logits = true;
  return options;
}

std::string small_letters(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Calls `each` with slices of the texts that fill one run. Slices are limited in bytes, because the second text, of
/// `second` bytes, is copied for each.
void for_slices(const std::vector<std::string>& texts, size_t second,
                const std::function<void(size_t first, size_t count)>& each) {
  constexpr size_t kMostBytes = size_t{1} << 20;
  for (size_t first = 0; first < texts.size();) {
    size_t count = 0, bytes = 0;
    while (first + count < texts.size() && count < kPackedTexts) {
      bytes += texts[first + count].size() + second;
      if (count != 0 && bytes > kMostBytes) break;
      ++count;
    }
    each(first, count);
    first += count;
  }
}

/// Scores each text by the largest products of the query's token vectors with the text's token vectors.
std::vector<ScoredText> match_tokens(Engine& engine, const std::string& query,
                                     const std::vector<std::string>& candidates, bool* truncated) {
  TokenEmbedder embedder(engine);
  const TokenVectors asked = embedder.embed({query}, TextRole::kQuery).front();
  *truncated = asked.truncated;
  std::vector<ScoredText> scored;
  for_slices(candidates, 0, [&](size_t first, size_t count) {
    const auto begin = candidates.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<std::string> slice(begin, begin + static_cast<std::ptrdiff_t>(count));
    for (const TokenVectors& text : embedder.embed(slice, TextRole::kDocument)) {
      *truncated = *truncated || text.truncated;
      scored.push_back({scored.size(), max_similarity(asked, text)});
    }
  });
  sort_best_first(&scored);
  return scored;
}

/// Scores each text by the weights of the terms that it shares with the query.
std::vector<ScoredText> match_terms(Engine& engine, const std::string& query,
                                    const std::vector<std::string>& candidates, bool* truncated) {
  const auto predict = [&engine](TextRole role, const std::vector<Input>& texts) {
    PredictOptions options;
    options.role = role;
    return Predictor(engine, kTermsPart, options).predict(texts);
  };
  const Prediction wanted = predict(TextRole::kQuery, {{query, std::nullopt}}).front();
  const std::vector<bantam::Candidate> asked = by_id(wanted.terms);
  *truncated = wanted.truncated;
  std::vector<ScoredText> scored;
  for_slices(candidates, 0, [&](size_t first, size_t count) {
    std::vector<Input> texts;
    for (size_t i = first; i < first + count; ++i) texts.push_back({candidates[i], std::nullopt});
    for (const Prediction& found : predict(TextRole::kDocument, texts)) {
      *truncated = *truncated || found.truncated;
      scored.push_back({scored.size(), product_of_terms(asked, by_id(found.terms))});
    }
  });
  sort_best_first(&scored);
  return scored;
}

/// Scores pairs with a cross-encoder.
std::vector<ScoredText> judge_pairs(Engine& engine, const char* option, const std::string& wanted,
                                    const std::string& query, const std::vector<std::string>& candidates,
                                    bool* truncated) {
  PairJudge judge(engine);
  if (judge.count() > 1 && wanted.empty()) {
    fail(ExitCode::kUsage, "{}: the file has several labels, {}; say whose probability ranks", option, judge.names());
  }
  const uint32_t label = wanted.empty() ? 0 : judge.require(option, wanted);
  const bool number = judge.count() == 1;
  std::vector<ScoredText> scored;
  for_slices(candidates, query.size(), [&](size_t first, size_t count) {
    std::vector<Input> pairs;
    for (size_t i = first; i < first + count; ++i) pairs.push_back({query, candidates[i]});
    for (const std::vector<float>& logits : judge.logits(pairs, truncated)) {
      scored.push_back({scored.size(), number ? logits[0] : softmax_at(logits, label)});
    }
  });
  sort_best_first(&scored);  // several sigmoids close to 1 are equal
  for (ScoredText& one : scored) {
    if (number) one.score = judge.score_of(one.score);
  }
  return scored;
}

bool ranks_by_tokens(const ModelFile& file) { return has_part(file.model().task(), kTokenVectorsPart); }
bool ranks_by_terms(const ModelFile& file) { return has_part(file.model().task(), kTermsPart); }

}  // namespace

void sort_best_first(std::vector<ScoredText>* scored) {
  std::stable_sort(scored->begin(), scored->end(),
                   [](const ScoredText& a, const ScoredText& b) { return a.score > b.score; });
}

float softmax_at(const std::vector<float>& scores, uint32_t label) {
  double sum = 0;
  for (const float v : scores) sum += std::exp(double{v} - double{scores[label]});
  return static_cast<float>(1 / sum);
}

void require_labels(const ModelFile& file) {
  const uint32_t parts = traits(file.model().task()).parts;
  if (parts == kLabelsPart) return;
  fail(ExitCode::kUnsupported, "{}: the file is for the task \"{}\"; this needs a classifier of pairs{}", file.path(),
       task_name(file.model().task()),
       (parts & kVectorPart) != 0 ? "; bantam search compares vectors, and classify --label-model scores labels by them"
                                  : "");
}

PairJudge::PairJudge(Engine& engine)
    : engine_(engine),
      predictor_(engine, (require_labels(engine.file()), kLabelsPart), with_logits()),
      count_(engine.model().label_count(0)) {}

std::string PairJudge::name(uint32_t label) const { return label_name(engine_.model(), label); }

uint32_t PairJudge::require(const char* option, const std::string& wanted) const {
  for (uint32_t i = 0; i < count_; ++i) {
    if (small_letters(name(i)) == small_letters(wanted)) return i;
  }
  fail(ExitCode::kUsage, "{} {}: the file has no such label, it has {}", option, printable(wanted), names());
}

uint32_t PairJudge::find_beginning(const std::string& beginning) const {
  uint32_t i = 0;
  while (i < count_ && small_letters(name(i)).compare(0, beginning.size(), beginning) != 0) ++i;
  return i;
}

std::string PairJudge::names() const {
  std::string all;
  for (uint32_t i = 0; i < count_; ++i) all += (i == 0 ? "" : ", ") + printable(name(i));
  return all;
}

float PairJudge::score_of(float logit) const {
  const std::string function = property_of(engine_.model(), kScoreFunction);
  if (function == "Identity") return logit;
  if (function == "Tanh") return std::tanh(logit);
  return static_cast<float>(1 / (1 + std::exp(-double{logit})));
}

std::vector<std::vector<float>> PairJudge::logits(const std::vector<Input>& pairs, bool* truncated) {
  std::vector<std::vector<float>> all;
  for (Prediction& prediction : predictor_.predict(pairs)) {
    *truncated = *truncated || prediction.truncated;
    all.push_back(std::move(prediction.logits));
    all.back().resize(count_);
  }
  return all;
}

OrderedJson ranked_json(const std::string& query, const std::vector<std::string>& candidates,
                        const std::vector<ScoredText>& ranked, bool truncated) {
  OrderedJson object = json_object("rank");
  object["text"] = query;
  object["found"] = OrderedJson::array();
  for (const ScoredText& one : ranked) {
    OrderedJson found;
    found["line"] = one.number + 1;
    found["score"] = one.score;
    found["text"] = candidates[one.number];
    object["found"].push_back(std::move(found));
  }
  object["truncated"] = truncated;
  return object;
}

void require_ranking(const ModelFile& file, const char* option, const std::string& label) {
  const bool tokens = ranks_by_tokens(file);
  if (!tokens && !ranks_by_terms(file)) return require_labels(file);
  if (!label.empty()) {
    fail(ExitCode::kUsage, "{}: the file has no labels, {} rank; leave it out", option,
         tokens ? "its tokens' vectors" : "the weights of its terms");
  }
}

std::vector<ScoredText> rank_texts(Engine& engine, const char* option, const std::string& label,
                                   const std::string& query, const std::vector<std::string>& candidates,
                                   bool* truncated) {
  require_ranking(engine.file(), option, label);
  if (ranks_by_tokens(engine.file())) return match_tokens(engine, query, candidates, truncated);
  if (ranks_by_terms(engine.file())) return match_terms(engine, query, candidates, truncated);
  return judge_pairs(engine, option, label, query, candidates, truncated);
}

}  // namespace bantam::convert
