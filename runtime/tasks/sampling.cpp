#include "bantam/sampling.h"

#include <string.h>

#include "bantam/tasks.h"
#include "format/split_mix.h"
#include "linked.h"
#include "session/state.h"
#include "tasks/labels.h"
#include "tasks/probability.h"
#include "tasks/token_scores.h"

#if BANTAM_IF_LINKED(Contexts)

namespace bantam {
namespace {

using tasks::kLeftOut;
using tasks::natural_log;

tasks::TokenRules rules_of(const Sampling& s) {
  return {s.repetition_penalty,     s.no_repeat_ngram, s.banned,      s.banned_count, s.forced,
          s.source_no_repeat_ngram, s.source_ids,      s.source_count};
}

bool valid(const Sampling& s) {
  return s.temperature >= 0.0f && s.temperature <= 1e6f && s.top_p > 0.0f && s.top_p <= 1.0f && s.min_p >= 0.0f &&
         s.min_p <= 1.0f && tasks::are_valid(rules_of(s));
}

/// Maps floats to unsigned integers of the same order.
uint32_t key_of(float x) {
  uint32_t bits = 0;
  memcpy(&bits, &x, sizeof(bits));
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

/// Returns the largest key for which `enough` is true; 0 if there is none. `enough` must be monotonic: true up to some
/// key, then false.
template <typename Enough>
uint32_t largest_key(const Enough& enough) {
  uint32_t key = 0;
  for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
    if (enough(key | bit)) key |= bit;
  }
  return key;
}

Candidate likeliest(const float* scores, uint32_t count) {
  Candidate best;
  tasks::select_best<int32_t>(tasks::Logits{scores, 1, count}, &best, 1);
  return best;
}

void keep_top_k(float* scores, uint32_t count, uint32_t k) {
  const uint32_t least = largest_key([&](uint32_t key) {
    uint32_t above = 0;
    for (uint32_t i = 0; i < count; ++i) above += key_of(scores[i]) >= key ? 1u : 0u;
    return above >= k;
  });
  for (uint32_t i = 0; i < count; ++i) scores[i] = key_of(scores[i]) >= least ? scores[i] : kLeftOut;
}

/// Sum of the weights whose key is at least `key`, in an order that is the same on every machine.
double mass(const float* weights, uint32_t count, uint32_t key) {
  double lanes[4] = {};
  for (uint32_t i = 0; i < count; ++i) lanes[i % 4] += key_of(weights[i]) >= key ? double{weights[i]} : 0.0;
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

void keep_top_p(float* weights, uint32_t count, float p) {
  const double needed = double{p} * mass(weights, count, 0);
  const uint32_t least = largest_key([&](uint32_t key) { return mass(weights, count, key) >= needed; });
  for (uint32_t i = 0; i < count; ++i) weights[i] = key_of(weights[i]) >= least ? weights[i] : 0.0f;
}

/// Replaces scores by exp((score - largest) / temperature).
void weigh(const tasks::Probability& math, float* scores, uint32_t count, float largest, float temperature) {
  for (uint32_t begin = 0; begin < count; begin += tasks::Probability::kBlock) {
    const uint32_t n = count - begin < tasks::Probability::kBlock ? count - begin : tasks::Probability::kBlock;
    alignas(64) float block[tasks::Probability::kBlock];
    for (uint32_t i = 0; i < n; ++i) {
      const float x = (scores[begin + i] - largest) / temperature;
      block[i] = x > -80.0f ? x : -88.0f;  // its exponential is 0
    }
    math.exponentials(block, n);
    for (uint32_t i = 0; i < n; ++i) scores[begin + i] = block[i];
  }
}

/// Returns the first token at which the cumulative weight reaches `share` of the total.
uint32_t draw(const float* weights, uint32_t count, float share) {
  double all = 0;
  for (uint32_t i = 0; i < count; ++i) all += double{weights[i]};
  const double target = double{share} * all;
  double sum = 0;
  uint32_t last = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (weights[i] == 0.0f) continue;
    sum += double{weights[i]};
    last = i;
    if (sum > target) break;
  }
  return last;
}

/// Returns the likeliest token that a constraint allows; its score is kLeftOut if there is none. Usually the likeliest
/// token of all, or one of the next, is allowed: the others are tested only if none of these is.
Candidate likeliest_allowed(const Constraint& constraint, float* scores, uint32_t count) {
  constexpr uint32_t kTries = 8;
  for (uint32_t i = 0; i < kTries; ++i) {
    const Candidate best = likeliest(scores, count);
    if (!(best.score > kLeftOut) || constraint.allows(constraint.state, best.id)) return best;
    scores[best.id] = kLeftOut;
  }
  tasks::leave_out_forbidden(constraint, scores, count);
  return likeliest(scores, count);
}

/// Samples among the tokens that the settings allow; `score` is that token's score before the change.
uint32_t sample(const tasks::Probability& math, float* scores, uint32_t vocabulary, uint32_t count,
                const Sampling& sampling, double* score) {
  if (sampling.top_k != 0 && sampling.top_k < vocabulary) keep_top_k(scores, vocabulary, sampling.top_k);
  const float largest = likeliest(scores, vocabulary).score;
  weigh(math, scores, vocabulary, largest, sampling.temperature);
  if (sampling.top_p < 1.0f) keep_top_p(scores, vocabulary, sampling.top_p);
  // The largest weight is exp(0).
  for (uint32_t i = 0; i < vocabulary; ++i) scores[i] = scores[i] >= sampling.min_p ? scores[i] : 0.0f;
  const uint32_t id = draw(scores, vocabulary, choice_number(sampling.seed, count));
  *score = double{largest} + double{sampling.temperature} * natural_log(double{scores[id]});
  return id;
}

bool contains(const int32_t* ids, uint32_t count, uint32_t id) {
  for (uint32_t i = 0; i < count; ++i) {
    if (static_cast<uint32_t>(ids[i]) == id) return true;
  }
  return false;
}

Status choose(const tasks::Probability& math, float* scores, uint32_t vocabulary, const int32_t* history,
              uint32_t history_count, const Sampling& sampling, NextToken* out) {
  const bool given = scores != nullptr && vocabulary != 0 && (history != nullptr || history_count == 0);
  if (!given || out == nullptr || !valid(sampling)) return Status::kInvalidArgument;
  // The settings change the scores: compute what depends on the original ones first.
  double log_sum = 0;
  if (sampling.log_probability) {
    const tasks::Softmax all = math.softmax({scores, 1, vocabulary}, 1.0f);
    log_sum = double{all.max} + natural_log(double{all.sum});
  }
  const bool forced = sampling.forced >= 0 && static_cast<uint32_t>(sampling.forced) < vocabulary;
  const double forced_score = forced ? double{scores[sampling.forced]} : 0;
  tasks::apply_rules(rules_of(sampling), scores, vocabulary, history, history_count);
  const Constraint* constraint = sampling.constraint;
  if (constraint != nullptr) {
    const Status status = tasks::follow_text({constraint, sampling.prompt, sampling.max_new}, history, history_count);
    if (status != Status::kOk) return status;
    if (sampling.temperature != 0.0f) tasks::leave_out_forbidden(*constraint, scores, vocabulary);
  }
  uint32_t id = 0;
  double score = 0;
  if (sampling.temperature == 0.0f) {
    const Candidate best =
        constraint == nullptr ? likeliest(scores, vocabulary) : likeliest_allowed(*constraint, scores, vocabulary);
    if (!(best.score > kLeftOut)) return Status::kNoTokenAllowed;
    id = static_cast<uint32_t>(best.id);
    score = double{best.score};
  } else {
    if (!(likeliest(scores, vocabulary).score > kLeftOut)) return Status::kNoTokenAllowed;
    id = sample(math, scores, vocabulary, history_count, sampling, &score);
  }
  out->id = static_cast<int32_t>(id);
  out->log_probability = 0;
  if (!sampling.log_probability) return Status::kOk;
  const double penalty = double{sampling.repetition_penalty};
  if (forced) {
    score = forced_score;
  } else if (penalty != 1 && contains(history, history_count, id)) {
    score = score < 0 ? score / penalty : score * penalty;
  }
  out->log_probability = static_cast<float>(score - log_sum);
  return Status::kOk;
}

}  // namespace

void keep_shortlist(const Session& session, uint32_t source, float* scores, uint32_t vocabulary) {
  if constexpr (linked::kShortlist) {
    const WordSet words = session.shortlist(source);
    if (words.bits == nullptr) return;
    keep_words(words, scores, vocabulary);
  }
}

bool ends_text(const Model& model, int32_t id) { return end_tokens(model).has(id); }

float choice_number(uint64_t seed, uint32_t count) {
  const uint64_t number = split_mix(seed + (uint64_t{count} + 1) * kSplitMixStep);
  return static_cast<float>(number >> 40) * 0x1p-24f;
}

Status choose_token(float* scores, uint32_t vocabulary, const int32_t* history, uint32_t history_count,
                    const Sampling& sampling, NextToken* out) {
  return choose(tasks::Probability(), scores, vocabulary, history, history_count, sampling, out);
}

namespace {

/// Chooses the token after row *row of the sequence's rows; `row` null: after its last one.
Status choose_after(Session& session, uint32_t sequence, const uint32_t* row, const Sampling& sampling,
                    NextToken* out) {
  if (!has_part(session.model().task(), kNextWordsPart)) return Status::kNoSuchTask;
  OutputView view;
  const Status status = tasks::head_output(session, kNextWordHead, sequence, &view);
  if (status != Status::kOk) return status;
  const uint32_t last = view.rows - 1, chosen = row == nullptr ? last : *row;
  if (chosen > last) return Status::kIndexOutOfRange;
  SessionState& s = state(&session);
  const int32_t* history = s.ids + s.offsets[sequence];
  uint32_t count = s.offsets[sequence + 1] - s.offsets[sequence];
  if (linked::kContexts && s.limits.context != 0) {
    history = session.context_ids(s.store->numbers[sequence]);
    count = session.context_length(s.store->numbers[sequence]);
  }
  // The row belongs to the session, which is not const here.
  auto* scores = const_cast<float*>(view.data) + size_t{chosen} * view.stride;
  // A constraint or a forced token replaces the shortlist.
  if (linked::kShortlist && s.listed != nullptr && !s.listed_only && sampling.constraint == nullptr &&
      sampling.forced < 0) {
    keep_shortlist(session, s.source_numbers[sequence], scores, view.width);
  }
  return choose(tasks::Probability(session), scores, view.width, history, count - (last - chosen), sampling, out);
}

}  // namespace

Status next_token(Session& session, uint32_t sequence, const Sampling& sampling, NextToken* out) {
  return choose_after(session, sequence, nullptr, sampling, out);
}

Status next_token(Session& session, uint32_t sequence, uint32_t row, const Sampling& sampling, NextToken* out) {
  return choose_after(session, sequence, &row, sampling, out);
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Contexts)
