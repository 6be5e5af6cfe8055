#include "bantam/beams.h"

#include <string.h>

#include "bantam/sampling.h"
#include "linked.h"
#include "session/state.h"
#include "tasks/labels.h"
#include "tasks/probability.h"
#include "tasks/token_scores.h"

#if BANTAM_IF_LINKED(Contexts)

namespace bantam {
namespace {

tasks::TokenRules rules_of(const BeamOptions& o) {
  return {o.repetition_penalty,     o.no_repeat_ngram, o.banned,      o.banned_count, -1,
          o.source_no_repeat_ngram, o.source_ids,      o.source_count};
}

bool valid(const Session& session, const BeamOptions& o) {
  return session.max_context() != 0 && o.beams >= 1 && o.beams <= kMostBeams && o.beams <= session.max_sequences() &&
         o.early_stopping <= EarlyStopping::kNever && o.length_penalty >= -100.0f && o.length_penalty <= 100.0f &&
         has_part(session.model().task(), kNextWordsPart) && tasks::are_valid(rules_of(o)) &&
         o.begin_banned <= o.banned_count && (o.constraint == nullptr || end_tokens(session.model()).count != 0);
}

/// Number of candidates per step: as many beams as before can continue even if the likeliest tokens of each beam end a
/// text.
uint32_t candidates_of(const Model& model, const BeamOptions& o) {
  const uint32_t ends = end_tokens(model).count;
  return (ends < 1 ? 2 : 1 + ends) * o.beams;
}

/// The most tokens of a text after a prompt of `prompt` tokens.
uint32_t most_new(const Session& session, const BeamOptions& o, uint32_t prompt) {
  const uint32_t room = session.max_context() - prompt;
  return o.max_new != 0 && o.max_new < room ? o.max_new : room;
}

/// Reserves memory for `n` elements at offset `at`, and advances it; with `base` null it only measures.
template <typename T>
T* take_room(uint8_t* base, size_t n, size_t* at) {
  T* const begin = base == nullptr ? nullptr : reinterpret_cast<T*>(base + *at);
  *at += (n * sizeof(T) + 7) / 8 * 8;
  return begin;
}

}  // namespace

size_t BeamSearch::bytes(const Session& session, const BeamOptions& options) {
  if (!valid(session, options)) return 0;
  size_t at = 0;
  const size_t beams = options.beams;
  take_room<Candidate>(nullptr, candidates_of(session.model(), options), &at);
  take_room<Ended>(nullptr, beams + 1, &at);
  take_room<int32_t>(nullptr, (beams + 1) * most_new(session, options, 0), &at);
  for (uint32_t i = 0; i < 5; ++i) take_room<uint32_t>(nullptr, beams + 1, &at);
  return at;
}

Status BeamSearch::begin(Session* session, const BeamOptions& options, const int32_t* prompt, uint32_t prompt_count,
                         uint32_t source, void* memory, size_t size) {
  if (session == nullptr || prompt == nullptr || prompt_count == 0 || memory == nullptr)
    return Status::kInvalidArgument;
  if (!valid(*session, options)) return Status::kInvalidArgument;
  if (reinterpret_cast<uintptr_t>(memory) % 8 != 0) return Status::kMisaligned;
  if (size < bytes(*session, options)) return Status::kBufferTooSmall;
  if (prompt_count >= session->max_context()) return Status::kTooManyTokens;
  *this = {};
  session_ = session;
  options_ = options;
  prompt_ = prompt_count;
  most_ = most_new(*session, options, prompt_count);
  kept_ = candidates_of(session->model(), options);
  source_ = source;
  auto* base = static_cast<uint8_t*>(memory);
  size_t at = 0;
  const size_t beams = options.beams;
  candidates_ = take_room<Candidate>(base, kept_, &at);
  texts_ = take_room<Ended>(base, beams + 1, &at);
  tokens_ = take_room<int32_t>(base, (beams + 1) * most_new(*session, options, 0), &at);
  scores_ = take_room<float>(base, beams + 1, &at);
  ids_ = take_room<int32_t>(base, beams + 1, &at);
  parents_ = take_room<uint32_t>(base, beams + 1, &at);
  sources_ = take_room<uint32_t>(base, beams + 1, &at);
  offsets_ = take_room<uint32_t>(base, beams + 1, &at);
  for (uint32_t i = 0; i <= options.beams; ++i) {
    sources_[i] = source;
    offsets_[i] = i;
  }
  for (uint32_t i = 0; i < options.beams; ++i) {
    const Status status = session->truncate(i, 0);
    if (status != Status::kOk) return status;
  }
  active_ = 1;
  scores_[0] = 0;
  for (uint32_t done = 0; done < prompt_count;) {
    Batch batch;
    batch.ids = prompt + done;
    batch.tokens = prompt_count - done < session->max_tokens() ? prompt_count - done : session->max_tokens();
    batch.sources = session->model().source_vocabulary() != 0 ? sources_ : nullptr;
    batch.last_rows = true;
    batch.listed = options.constraint == nullptr;
    const Status status = session->run(batch);
    if (status != Status::kOk) return status;
    done += batch.tokens;
  }
  return Status::kOk;
}

/// Inserts a candidate after those with an equal or better score.
void BeamSearch::take(float score, uint32_t beam, int32_t id) {
  uint32_t at = held_ < kept_ ? held_++ : kept_ - 1;
  for (; at > 0 && candidates_[at - 1].score < score; --at) candidates_[at] = candidates_[at - 1];
  candidates_[at] = {score, beam, id};
}

/// Excludes the tokens that may not follow a beam.
Status BeamSearch::constrain(uint32_t beam, float* scores, uint32_t vocabulary) const {
  const uint32_t first = options_.first_id >= 0 ? 1 : 0;
  if (options_.constraint == nullptr || made_ < first) return Status::kOk;
  const Status status = tasks::follow_text({options_.constraint, prompt_ + first, most_ - first},
                                           session_->context_ids(beam), session_->context_length(beam));
  if (status == Status::kOk) tasks::leave_out_forbidden(*options_.constraint, scores, vocabulary);
  return status;
}

/// Adds the candidates that may follow a beam, scored by the tokens' log probabilities as modified by the rules.
Status BeamSearch::consider(uint32_t beam, float* scores, uint32_t vocabulary) {
  // A constraint replaces the shortlist.
  const bool listed = options_.constraint == nullptr && session_->shortlist(source_).bits != nullptr;
  if (listed && !state(session_).listed_only) keep_shortlist(*session_, source_, scores, vocabulary);
  const tasks::Softmax all = tasks::Probability(*session_).softmax({scores, 1, vocabulary}, 1.0f);
  const auto log_sum = static_cast<float>(tasks::natural_log(double{all.sum}));
  for (uint32_t i = 0; i < vocabulary; ++i) scores[i] = (scores[i] - all.max) - log_sum;
  tasks::TokenRules rules = rules_of(options_);
  if (made_ != (options_.first_id >= 0 ? 1u : 0u)) rules.banned_count -= options_.begin_banned;
  if (made_ == 0 && options_.first_id >= 0) rules.forced = options_.first_id;
  if (made_ + 1 == most_ && options_.last_id >= 0 && options_.constraint == nullptr) rules.forced = options_.last_id;
  tasks::apply_rules(rules, scores, vocabulary, session_->context_ids(beam), session_->context_length(beam));
  const EndTokens ends = end_tokens(session_->model());
  for (uint32_t i = 0; i < ends.count && made_ < options_.min_new; ++i) {
    const auto id = static_cast<uint32_t>(ends.ids[i]);
    if (id < vocabulary) scores[id] = tasks::kLeftOut;
  }
  const Status status = constrain(beam, scores, vocabulary);
  if (status != Status::kOk) return status;
  const float base = scores_[beam];
  for (uint32_t i = 0; i < vocabulary; ++i) {
    // With a constraint or a shortlist, excluded tokens must not become candidates.
    if ((listed || options_.constraint != nullptr) && !(scores[i] > tasks::kLeftOut)) continue;
    const float score = scores[i] + base;
    if (held_ < kept_ || score > candidates_[held_ - 1].score) take(score, beam, static_cast<int32_t>(i));
  }
  return Status::kOk;
}

Status BeamSearch::gather() {
  held_ = 0;
  for (uint32_t beam = 0; beam < active_; ++beam) {
    OutputView view;
    const Status status = tasks::head_output(*session_, kNextWordHead, beam, &view);
    if (status != Status::kOk) return status;
    // The row belongs to the session, which is not const.
    auto* scores = const_cast<float*>(view.data) + size_t{view.rows - 1} * view.stride;
    const Status considered = consider(beam, scores, view.width);
    if (considered != Status::kOk) return considered;
  }
  return held_ == 0 ? Status::kNoTokenAllowed : Status::kOk;
}

void BeamSearch::keep_text(const Candidate& candidate, float score) {
  uint32_t at = ended_ <= options_.beams ? ended_ : options_.beams;
  if (is_full() && !(score > texts_[ended_ - 1].score)) return;
  uint32_t slot = 0;
  for (uint32_t i = 0; i < ended_; ++i) {
    if (texts_[i].slot == slot) {
      ++slot;
      i = UINT32_MAX;  // restart from the beginning
    }
  }
  int32_t* tokens = tokens_ + size_t{slot} * most_;
  memcpy(tokens, session_->context_ids(candidate.beam) + prompt_, made_ * sizeof(int32_t));
  tokens[made_] = candidate.id;
  for (; at > 0 && texts_[at - 1].score < score; --at) texts_[at] = texts_[at - 1];
  texts_[at] = {score, slot, made_ + 1};
  if (!is_full()) ++ended_;
}

/// Examines as many of the best candidates as there are beams, and stores those that end a text.
void BeamSearch::end_texts() {
  const double length = tasks::power(double{static_cast<float>(made_ + 1)}, double{options_.length_penalty});
  const bool closed = is_full() && options_.early_stopping == EarlyStopping::kYes;
  const bool last = made_ + 1 >= most_;
  for (uint32_t i = 0; i < held_ && i < options_.beams && !closed && improves_; ++i) {
    const Candidate& candidate = candidates_[i];
    if (!last && !ends_text(session_->model(), candidate.id)) continue;
    keep_text(candidate, candidate.score / static_cast<float>(length));
  }
}

/// Makes the best candidates that do not end a text the next beams.
void BeamSearch::go_on() {
  active_ = 0;
  for (uint32_t i = 0; i < held_ && active_ < options_.beams && made_ + 1 < most_; ++i) {
    const Candidate& candidate = candidates_[i];
    if (ends_text(session_->model(), candidate.id)) continue;
    scores_[active_] = candidate.score;
    ids_[active_] = candidate.id;
    parents_[active_++] = candidate.beam;
  }
}

Status BeamSearch::run() {
  const Status status = session_->reorder_contexts(parents_, active_);
  if (status != Status::kOk) return status;
  Batch batch;
  batch.ids = ids_;
  batch.offsets = offsets_;
  batch.sequences = batch.tokens = active_;
  batch.sources = session_->model().source_vocabulary() != 0 ? sources_ : nullptr;
  batch.last_rows = true;
  batch.listed = options_.constraint == nullptr;
  return session_->run(batch);
}

Status BeamSearch::step(bool* done) {
  if (session_ == nullptr || done == nullptr) return Status::kInvalidArgument;
  *done = done_;
  if (done_) return Status::kOk;
  const Status status = gather();
  if (status != Status::kOk) return status;
  end_texts();
  go_on();
  ++made_;
  if (active_ != 0) {
    const bool far = options_.early_stopping == EarlyStopping::kNever && options_.length_penalty > 0.0f;
    const uint32_t length = far ? most_ : made_;
    const double divisor = tasks::power(double{static_cast<float>(length)}, double{options_.length_penalty});
    const bool better = !is_full() || scores_[0] / static_cast<float>(divisor) > texts_[ended_ - 1].score;
    improves_ = improves_ && better;
  }
  const bool closed = is_full() && options_.early_stopping == EarlyStopping::kYes;
  *done = done_ = active_ == 0 || !improves_ || closed;
  return done_ ? Status::kOk : run();
}

BeamText BeamSearch::text(uint32_t rank) const {
  if (rank >= ended_) return {};
  return {tokens_ + size_t{texts_[rank].slot} * most_, texts_[rank].count, texts_[rank].score};
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Contexts)
