// The C API of text generation: each function converts its arguments to C++ ones and the results back. No logic of its
// own.
#include "bantam/bantam_generate.h"
#include "bantam/beams.h"
#include "bantam/chat.h"
#include "bantam/constraint.h"
#include "bantam/generation.h"
#include "bantam/guesses.h"
#include "bantam/sampling.h"
#include "c/same.h"
#include "language.h"
#include "linked.h"

#if BANTAM_IF_LINKED(Contexts)

namespace {

using namespace bantam::c;  // NOLINT(google-build-using-namespace): the other half of these files
using bantam::BeamSearch;
using bantam::Session;
using bantam::Status;

static_assert(sizeof(BeamSearch) <= sizeof(bantam_beams));
static_assert(alignof(BeamSearch) <= alignof(bantam_beams));
static_assert(sizeof(bantam::Constraint) <= sizeof(bantam_constraint));
static_assert(sizeof(bantam::Answers) <= sizeof(bantam_answers));
static_assert(sizeof(bantam::JsonText) <= sizeof(bantam_json));
static_assert(alignof(bantam::JsonText) <= alignof(bantam_json));
static_assert(sizeof(bantam_json_field) == sizeof(bantam::JsonField));
static_assert(offsetof(bantam_json_field, kind) == offsetof(bantam::JsonField, kind));
static_assert(sizeof(bantam_chat_message) == sizeof(bantam::ChatMessage));
static_assert(offsetof(bantam_chat_message, text) == offsetof(bantam::ChatMessage, text));
static_assert(offsetof(bantam_chat_message, size) == offsetof(bantam::ChatMessage, size));

bantam_batch batch_defaults() { return {sizeof(bantam_batch), nullptr, nullptr, nullptr, nullptr, nullptr, 1, 0, 0}; }

bool to_cpp(const bantam_batch* given, bantam::Batch* out) {
  bantam_batch batch = batch_defaults();
  if (given == nullptr || !read_options(given, &batch)) return false;
  out->ids = batch.ids;
  out->segments = batch.segments;
  out->offsets = batch.offsets;
  out->contexts = batch.contexts;
  out->sources = batch.sources;
  out->sequences = batch.sequences;
  out->tokens = batch.tokens;
  out->last_rows = batch.last_rows != 0;
  return true;
}

const bantam::Constraint* to_cpp(const bantam_constraint* constraint) {
  return reinterpret_cast<const bantam::Constraint*>(constraint);
}
const bantam_constraint* to_c(const bantam::Constraint* constraint) {
  return reinterpret_cast<const bantam_constraint*>(constraint);
}

/// Returns the end tokens that the caller passes; if null, those that the file names.
bantam::EndTokens ends_of(const bantam::Model& model, const bantam_end_tokens* given) {
  return given == nullptr ? bantam::end_tokens(model) : bantam::EndTokens{given->ids, given->count};
}

bantam_json_options json_defaults() {
  return {sizeof(bantam_json_options), nullptr, 0, bantam::JsonOptions().depth, 0};
}

bantam_sampling sampling_defaults() {
  const bantam::Sampling s;
  return {sizeof(bantam_sampling),
          s.temperature,
          s.top_k,
          s.top_p,
          s.min_p,
          s.repetition_penalty,
          s.no_repeat_ngram,
          s.seed,
          nullptr,
          0,
          s.forced,
          0,
          nullptr,
          0,
          0,
          s.source_no_repeat_ngram,
          nullptr,
          0};
}

/// `given` null: defaults.
bool to_cpp(const bantam_sampling* given, bantam::Sampling* out) {
  bantam_sampling s = sampling_defaults();
  if (given != nullptr && !read_options(given, &s)) return false;
  *out = {s.temperature,
          s.top_k,
          s.top_p,
          s.min_p,
          s.repetition_penalty,
          s.no_repeat_ngram,
          s.seed,
          s.banned,
          s.banned_count,
          s.forced,
          s.log_probability != 0,
          to_cpp(s.constraint),
          s.prompt,
          s.max_new,
          s.source_no_repeat_ngram,
          s.source_ids,
          s.source_count};
  return true;
}

bantam_beam_options to_c(const bantam::BeamOptions& b) {
  return {sizeof(bantam_beam_options),
          b.beams,
          b.max_new,
          b.min_new,
          b.length_penalty,
          static_cast<uint32_t>(b.early_stopping),
          b.repetition_penalty,
          b.no_repeat_ngram,
          b.banned_count,
          b.banned,
          b.first_id,
          b.last_id,
          to_c(b.constraint),
          b.begin_banned,
          b.source_no_repeat_ngram,
          b.source_ids,
          b.source_count};
}

bool to_cpp(const bantam_beam_options* given, bantam::BeamOptions* out) {
  bantam_beam_options b = to_c(bantam::BeamOptions());
  if (given != nullptr && !read_options(given, &b)) return false;
  if (b.early_stopping > static_cast<uint32_t>(bantam::EarlyStopping::kNever)) return false;
  *out = {b.beams,
          b.max_new,
          b.min_new,
          b.length_penalty,
          static_cast<bantam::EarlyStopping>(b.early_stopping),
          b.repetition_penalty,
          b.no_repeat_ngram,
          b.banned,
          b.banned_count,
          b.first_id,
          b.last_id,
          to_cpp(b.constraint),
          b.begin_banned,
          b.source_no_repeat_ngram,
          b.source_ids,
          b.source_count};
  return true;
}

/// Writes the token that choose(session, sampling, &token) chooses to *out.
template <typename Choose>
bantam_status choose_with(bantam_session* session, const bantam_sampling* sampling, bantam_next* out,
                          const Choose& choose) {
  bantam::Sampling read;
  if (out == nullptr || !to_cpp(sampling, &read)) return BANTAM_INVALID_ARGUMENT;
  return with(session, [&](Session& s) {
    bantam::NextToken next;
    const Status status = choose(s, read, &next);
    if (status == Status::kOk) *out = {next.id, next.log_probability};
    return status;
  });
}

BeamSearch* to_cpp(bantam_beams* beams) { return reinterpret_cast<BeamSearch*>(beams); }
const BeamSearch* to_cpp(const bantam_beams* beams) { return reinterpret_cast<const BeamSearch*>(beams); }

}  // namespace

extern "C" {

// ------------------------------------------------------------------------------- contexts and sources

void bantam_batch_init_sized(bantam_batch* batch, size_t size) { write_options(batch_defaults(), batch, size); }

bantam_status bantam_session_run_batch(bantam_session* session, const bantam_batch* batch) {
  bantam::Batch read;
  if (!to_cpp(batch, &read)) return BANTAM_INVALID_ARGUMENT;
  return with(session, [&](Session& s) { return s.run(read); });
}

bantam_status bantam_session_encode_batch(bantam_session* session, const bantam_batch* batch) {
  bantam::Batch read;
  if (!to_cpp(batch, &read)) return BANTAM_INVALID_ARGUMENT;
  return with(session, [&](Session& s) { return s.encode(read); });
}

bantam_status bantam_session_encode(bantam_session* session) {
  return with(session, [](Session& s) { return s.encode(); });
}

uint32_t bantam_session_source_length(const bantam_session* session, uint32_t source) {
  return session == nullptr ? 0 : to_cpp(session)->source_length(source);
}

uint32_t bantam_session_context_length(const bantam_session* session, uint32_t context) {
  return session == nullptr ? 0 : to_cpp(session)->context_length(context);
}

const int32_t* bantam_session_context_ids(const bantam_session* session, uint32_t context) {
  return session == nullptr ? nullptr : to_cpp(session)->context_ids(context);
}

bantam_status bantam_session_truncate(bantam_session* session, uint32_t context, uint32_t length) {
  return with(session, [&](Session& s) { return s.truncate(context, length); });
}

bantam_status bantam_session_copy_context(bantam_session* session, uint32_t from, uint32_t to) {
  return with(session, [&](Session& s) { return s.copy_context(from, to); });
}

bantam_status bantam_session_reorder_contexts(bantam_session* session, const uint32_t* from, uint32_t count) {
  return with(session, [&](Session& s) { return s.reorder_contexts(from, count); });
}

// --------------------------------------------------------------------------- what texts may become

size_t bantam_answers_bytes(uint32_t count) { return bantam::Answers::bytes(count); }

bantam_status bantam_answers_open(bantam_answers* answers, const bantam_model* model, const int32_t* ids,
                                  const uint32_t* offsets, uint32_t count, const bantam_end_tokens* ends, void* memory,
                                  size_t size, bantam_constraint* out) {
  const bantam::Model* m = opened(model);
  if (m == nullptr || answers == nullptr || out == nullptr) return BANTAM_INVALID_ARGUMENT;
  auto* made = new (answers) bantam::Answers();
  const Status status = made->open(ids, offsets, count, ends_of(*m, ends), memory, size);
  if (status == Status::kOk) new (out) bantam::Constraint(made->constraint());
  return bantam::c::to_c(status);
}

uint32_t bantam_answers_find(const bantam_answers* answers, const int32_t* ids, uint32_t count) {
  return answers == nullptr ? 0 : reinterpret_cast<const bantam::Answers*>(answers)->find(ids, count);
}

void bantam_json_options_init_sized(bantam_json_options* options, size_t size) {
  write_options(json_defaults(), options, size);
}

bantam_status bantam_json_open(bantam_json* json, const bantam_model* model, uint32_t tokenizer,
                               const bantam_json_options* options, const bantam_end_tokens* ends, const int32_t* prompt,
                               uint32_t count, bantam_constraint* out) {
  const bantam::Model* m = opened(model);
  bantam_json_options read = json_defaults();
  if (m == nullptr || json == nullptr || out == nullptr || (options != nullptr && !read_options(options, &read))) {
    return BANTAM_INVALID_ARGUMENT;
  }
  bantam::Tokenizer tokens;
  Status status = bantam::Tokenizer::open(*m, tokenizer, &tokens);
  if (status != Status::kOk) return bantam::c::to_c(status);
  auto* made = new (json) bantam::JsonText();
  const auto kind = static_cast<bantam::JsonKind>(read.kind);
  const bantam::JsonOptions said = {kind, same<const bantam::JsonField>(read.fields), read.field_count, read.depth};
  status = made->open(tokens, said, ends_of(*m, ends), prompt, count);
  if (status == Status::kOk) new (out) bantam::Constraint(made->constraint());
  return bantam::c::to_c(status);
}

// ------------------------------------------------------------------------------------- the next token

void bantam_sampling_init_sized(bantam_sampling* sampling, size_t size) {
  write_options(sampling_defaults(), sampling, size);
}

bantam_status bantam_next_token(bantam_session* session, uint32_t sequence, const bantam_sampling* sampling,
                                bantam_next* out) {
  return choose_with(session, sampling, out, [&](Session& s, const bantam::Sampling& read, bantam::NextToken* next) {
    return bantam::next_token(s, sequence, read, next);
  });
}

bantam_status bantam_next_token_of_row(bantam_session* session, uint32_t sequence, uint32_t row,
                                       const bantam_sampling* sampling, bantam_next* out) {
  return choose_with(session, sampling, out, [&](Session& s, const bantam::Sampling& read, bantam::NextToken* next) {
    return bantam::next_token(s, sequence, row, read, next);
  });
}

uint32_t bantam_guess_repeat(const int32_t* ids, uint32_t count, uint32_t most, int32_t* out) {
  return ids == nullptr || out == nullptr ? 0 : bantam::guess_repeat(ids, count, most, out);
}

void bantam_guess_count_init(bantam_guess_count* guesses, uint32_t most) {
  if (guesses != nullptr) new (guesses) bantam::GuessCount(most);
}

uint32_t bantam_guess_count_next(bantam_guess_count* guesses) {
  return guesses == nullptr ? 0 : same<bantam::GuessCount>(guesses)->next();
}

void bantam_guess_count_took(bantam_guess_count* guesses, uint32_t guessed, uint32_t kept) {
  if (guesses != nullptr) same<bantam::GuessCount>(guesses)->took(guessed, kept);
}

int bantam_ends_text(const bantam_model* model, int32_t id) {
  const bantam::Model* m = opened(model);
  return m != nullptr && bantam::ends_text(*m, id) ? 1 : 0;
}

// ---------------------------------------------------------------------------------------------- beams

void bantam_beam_options_init_sized(bantam_beam_options* options, size_t size) {
  write_options(to_c(bantam::BeamOptions()), options, size);
}

size_t bantam_beams_bytes(const bantam_session* session, const bantam_beam_options* options) {
  bantam::BeamOptions read;
  return session == nullptr || !to_cpp(options, &read) ? 0 : BeamSearch::bytes(*to_cpp(session), read);
}

bantam_status bantam_beams_begin(bantam_beams* beams, bantam_session* session, const bantam_beam_options* options,
                                 const int32_t* prompt, uint32_t count, uint32_t source, void* memory, size_t size) {
  bantam::BeamOptions read;
  if (beams == nullptr || session == nullptr || !to_cpp(options, &read)) return BANTAM_INVALID_ARGUMENT;
  return bantam::c::to_c((new (beams) BeamSearch())->begin(to_cpp(session), read, prompt, count, source, memory, size));
}

bantam_status bantam_beams_step(bantam_beams* beams, int* done) {
  if (beams == nullptr || done == nullptr) return BANTAM_INVALID_ARGUMENT;
  bool ended = false;
  const Status status = to_cpp(beams)->step(&ended);
  *done = ended ? 1 : 0;
  return bantam::c::to_c(status);
}

uint32_t bantam_beams_count(const bantam_beams* beams) { return beams == nullptr ? 0 : to_cpp(beams)->count(); }

bantam_beam_text bantam_beams_text(const bantam_beams* beams, uint32_t rank) {
  if (beams == nullptr || rank >= to_cpp(beams)->count()) return {nullptr, 0, 0};
  const bantam::BeamText text = to_cpp(beams)->text(rank);
  return {text.ids, text.count, text.score};
}

// ----------------------------------------------------------------------------------- what a file says

uint32_t bantam_generation_count(const bantam_model* model) {
  const bantam::Model* m = opened(model);
  return m == nullptr ? 0 : bantam::generation_count(*m);
}

bantam_status bantam_generation_get(const bantam_model* model, uint32_t index, bantam_generation* out) {
  const bantam::Model* m = opened(model);
  if (m == nullptr || out == nullptr) return BANTAM_INVALID_ARGUMENT;
  bantam::Generation way;
  const Status status = bantam::generation(*m, index, &way);
  if (status == Status::kOk) {
    *out = {bantam::c::to_c(way.name), bantam::c::to_c(way.prefix), to_c(way.beams), way.start_id};
  }
  return bantam::c::to_c(status);
}

uint32_t bantam_language_place(const bantam_model* model) {
  const bantam::Model* m = opened(model);
  return m == nullptr ? 0 : static_cast<uint32_t>(bantam::language_place(*m));
}

uint32_t bantam_language_count(const bantam_model* model) {
  const bantam::Model* m = opened(model);
  return m == nullptr ? 0 : bantam::language_count(*m);
}

bantam_status bantam_language_get(const bantam_model* model, uint32_t index, bantam_text* code, int32_t* token) {
  const bantam::Model* m = opened(model);
  if (m == nullptr || code == nullptr || token == nullptr) return BANTAM_INVALID_ARGUMENT;
  bantam::Language found;
  const Status status = bantam::language(*m, index, &found);
  if (status == Status::kOk) *code = bantam::c::to_c(found.code), *token = found.token;
  return bantam::c::to_c(status);
}

// -------------------------------------------------------------------------------------- conversations

int bantam_has_chat(const bantam_model* model) {
  const bantam::Model* m = opened(model);
  return m != nullptr && bantam::has_chat(*m) ? 1 : 0;
}

bantam_status bantam_render_chat(const bantam_model* model, const bantam_chat_message* messages, uint32_t count,
                                 void (*write)(void* target, const char* bytes, size_t size), void* target) {
  const bantam::Model* m = opened(model);
  if (m == nullptr || write == nullptr || (messages == nullptr && count != 0)) return BANTAM_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < count; ++i) {
    if (messages[i].role > 2) return BANTAM_INVALID_ARGUMENT;
  }
  return bantam::c::to_c(bantam::render_chat(*m, same<const bantam::ChatMessage>(messages), count, write, target));
}

}  // extern "C"

#endif  // BANTAM_IF_LINKED(Contexts)
