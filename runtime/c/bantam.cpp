// The C API: each function converts its arguments to C++ ones and the results back. No logic of its own.
#include "bantam/bantam.h"

#include "bantam/session.h"
#include "bantam/tasks.h"
#include "c/same.h"
#include "language.h"
#include "linked.h"
#if BANTAM_IF_LINKED(Decode)
#include "bantam/decode.h"
#endif
#if BANTAM_IF_LINKED(op_Features)
#include "bantam/image.h"
#endif

namespace {

using namespace bantam::c;  // NOLINT(google-build-using-namespace): the other half of these files
using bantam::Model;
using bantam::Session;
using bantam::Status;

// ------------------------------------------------------------------------ layouts that are the same twice

static_assert(sizeof(bantam_model) == 128 && sizeof(Model) <= sizeof(bantam_model));
static_assert(alignof(Model) <= alignof(bantam_model));
static_assert(sizeof(bantam_status) == sizeof(Status));
static_assert(int{BANTAM_NO_TOKEN_ALLOWED} == static_cast<int>(Status::kNoTokenAllowed));
static_assert(int{BANTAM_UNAVAILABLE} == static_cast<int>(Status::kUnavailable));
static_assert(int{BANTAM_TASK_SPARSE_EMBED} == static_cast<int>(bantam::TaskKind::kSparseEmbed));
static_assert(int{BANTAM_AGGREGATION_MAX} == static_cast<int>(bantam::Aggregation::kMax));
static_assert(int{BANTAM_AGGREGATION_FILE} == static_cast<int>(bantam::Aggregation::kFile));
static_assert(sizeof(bantam_parallel) == sizeof(bantam::Parallel));
static_assert(offsetof(bantam_parallel, run) == offsetof(bantam::Parallel, run));
static_assert(sizeof(bantam_offset) == sizeof(bantam::Offset));
static_assert(offsetof(bantam_offset, end) == offsetof(bantam::Offset, end));
static_assert(sizeof(bantam_label_score) == sizeof(bantam::LabelScore));
static_assert(offsetof(bantam_label_score, score) == offsetof(bantam::LabelScore, score));
static_assert(sizeof(bantam_candidate) == sizeof(bantam::Candidate));
static_assert(offsetof(bantam_candidate, score) == offsetof(bantam::Candidate, score));
static_assert(sizeof(bantam_entity) == sizeof(bantam::Entity));
static_assert(offsetof(bantam_entity, name) == offsetof(bantam::Entity, name));
static_assert(offsetof(bantam_entity, span) == offsetof(bantam::Entity, span));
static_assert(offsetof(bantam_entity, score) == offsetof(bantam::Entity, score));
static_assert(sizeof(bantam_text) == sizeof(bantam::Text));
static_assert(offsetof(bantam_text, size) == offsetof(bantam::Text, size));

bantam_session_options session_defaults() {
  const bantam::SessionOptions defaults;
  return {sizeof(bantam_session_options),
          defaults.max_tokens,
          defaults.max_sequences,
          defaults.workers,
          defaults.tile_rows,
          0,
          0,
          nullptr,
          defaults.block_rows,
          defaults.max_context,
          defaults.max_source,
          defaults.max_sources,
          defaults.scored_rows};
}

bantam_encode_options encode_defaults() {
  const bantam::EncodeOptions defaults;
  return {sizeof(bantam_encode_options), defaults.max_tokens, defaults.skip, 1, 0};
}

#if BANTAM_IF_LINKED(part_Found)
bantam_find_options find_defaults() {
  const bantam::FindOptions defaults;
  return {sizeof(bantam_find_options), defaults.threshold, 0, 0};
}
#endif

void store(const bantam::Fault& from, bantam_fault* to) {
  if (to != nullptr) *to = {from.what, from.name, from.name_size, from.index};
}

bantam_output output_to_c(const bantam::OutputView& view) {
  const auto flag = [](bool value) { return static_cast<uint8_t>(value ? 1 : 0); };
  return {to_c(view.name), view.data, view.rows, view.width, view.stride, flag(view.per_token), flag(view.squeeze)};
}

bantam_encode_result to_c(const bantam::EncodeResult& r) {
  return {r.count, r.truncated ? 1u : 0u, {r.content[0], r.content[1]}, {r.kept[0], r.kept[1]}};
}

/// `given` null: defaults.
bool to_cpp(const bantam_encode_options* given, bantam::EncodeOptions* result) {
  bantam_encode_options options = encode_defaults();
  if (given != nullptr && !read_options(given, &options)) return false;
  result->max_tokens = options.max_tokens;
  result->skip = options.skip;
  result->add_special = options.add_special != 0;
  result->truncation = static_cast<bantam::TruncationSide>(options.truncation);
  return true;
}

#if BANTAM_IF_LINKED(part_Found)
bool to_cpp(const bantam_find_options* given, bantam::FindOptions* result) {
  bantam_find_options options = find_defaults();
  if (given != nullptr && !read_options(given, &options)) return false;
  result->threshold = options.threshold;
  result->nested = options.nested != 0;
  result->several = options.several != 0;
  return true;
}
#endif

bool to_cpp(const bantam_session_options* given, bantam::SessionOptions* result) {
  bantam_session_options options = session_defaults();
  if (given == nullptr || !read_options(given, &options)) return false;
  result->max_tokens = options.max_tokens;
  result->max_sequences = options.max_sequences;
  result->workers = options.workers;
  result->tile_rows = options.tile_rows;
  result->block_rows = options.block_rows;
  result->max_context = options.max_context;
  result->max_source = options.max_source;
  result->max_sources = options.max_sources;
  result->scored_rows = options.scored_rows;
  result->isa = static_cast<bantam::Isa>(options.isa);
  result->f32_attention = options.f32_attention != 0;
  result->parallel = same<const bantam::Parallel>(options.parallel);
  return true;
}

}  // namespace

extern "C" {

const char* bantam_status_message(bantam_status status) { return bantam::status_message(static_cast<Status>(status)); }

// ---------------------------------------------------------------------------------------------- model

bantam_status bantam_model_open(const void* bytes, size_t size, bantam_model* out, bantam_fault* fault) {
  if (out == nullptr) return BANTAM_INVALID_ARGUMENT;
  Model model;
  bantam::Fault why;
  const Status status = Model::open(bytes, size, &model, &why);
  store(why, fault);
  if (status == Status::kOk) new (out) Model(model);
  return to_c(status);
}

bantam_task bantam_model_task(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? BANTAM_TASK_NONE : static_cast<bantam_task>(m->task());
}
bantam_text bantam_model_name(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? bantam_text{nullptr, 0} : to_c(m->name());
}
bantam_text bantam_model_tool(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? bantam_text{nullptr, 0} : to_c(m->tool());
}
bantam_text bantam_model_licence(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? bantam_text{nullptr, 0} : to_c(m->licence());
}
bantam_text bantam_model_prompt(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? bantam_text{nullptr, 0} : to_c(bantam::text_prompt(*m));
}
bantam_text bantam_model_role_prompt(const bantam_model* model, bantam_text_role role) {
  const Model* m = opened(model);
  const bool known = role >= BANTAM_TEXT_PLAIN && role <= BANTAM_TEXT_DOCUMENT;
  return m == nullptr || !known ? bantam_text{nullptr, 0}
                                : to_c(bantam::text_prompt(*m, static_cast<bantam::TextRole>(role)));
}
bantam_text bantam_model_property(const bantam_model* model, bantam_text key) {
  const Model* m = opened(model);
  return m == nullptr || key.data == nullptr ? bantam_text{nullptr, 0} : to_c(bantam::property(*m, to_cpp(key)));
}
uint32_t bantam_model_max_tokens(const bantam_model* model) {
  const Model* m = opened(model);
  bantam::Tokenizer tokenizer;
  if (m == nullptr) return 0;
  const uint32_t most = m->max_sequence();
  if (bantam::Tokenizer::open(*m, 0, &tokenizer) != Status::kOk) return most;
  const uint32_t stated = tokenizer.max_tokens();
  return stated == 0 || (most != 0 && stated > most) ? most : stated;
}
uint32_t bantam_model_max_sequence(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? 0 : m->max_sequence();
}
uint32_t bantam_model_vocabulary(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? 0 : m->vocabulary();
}
uint32_t bantam_model_segment_types(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? 0 : m->segment_types();
}
uint32_t bantam_model_feature_width(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? 0 : m->feature_width();
}
uint32_t bantam_model_mark_types(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? 0 : m->mark_types();
}
bantam_text bantam_model_mark_name(const bantam_model* model, uint32_t mark) {
  const Model* m = opened(model);
  return m == nullptr ? bantam_text{} : to_c(m->mark_name(mark));
}
int bantam_model_has_tokenizer(const bantam_model* model) {
  const Model* m = opened(model);
  return m != nullptr && m->has_tokenizer() ? 1 : 0;
}
uint32_t bantam_model_output_count(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? 0 : m->output_count();
}
bantam_text bantam_model_output_name(const bantam_model* model, uint32_t output) {
  const Model* m = opened(model);
  return m == nullptr ? bantam_text{nullptr, 0} : to_c(m->output_name(output));
}
uint32_t bantam_model_label_set_count(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? 0 : m->label_set_count();
}
uint32_t bantam_model_label_count(const bantam_model* model, uint32_t set) {
  const Model* m = opened(model);
  return m == nullptr ? 0 : m->label_count(set);
}
bantam_text bantam_model_label(const bantam_model* model, uint32_t set, uint32_t index) {
  const Model* m = opened(model);
  return m == nullptr ? bantam_text{nullptr, 0} : to_c(m->label(set, index));
}
bantam_text bantam_model_label_set_name(const bantam_model* model, uint32_t set) {
  const Model* m = opened(model);
  return m == nullptr ? bantam_text{nullptr, 0} : to_c(m->label_set_name(set));
}
int32_t bantam_model_label_above(const bantam_model* model, uint32_t set, uint32_t index) {
  const Model* m = opened(model);
  return m == nullptr ? -1 : m->label_above(set, index);
}

// -------------------------------------------------------------------------------------------- session

void bantam_session_options_init_sized(bantam_session_options* options, size_t size) {
  write_options(session_defaults(), options, size);
}

size_t bantam_arena_bytes(const bantam_model* model, const bantam_session_options* options) {
  bantam::SessionOptions read;
  return to_cpp(options, &read) ? bantam::arena_bytes(to_cpp(model), read) : 0;
}

bantam_status bantam_session_create(const bantam_model* model, const bantam_session_options* options, void* arena,
                                    size_t size, bantam_session** out, bantam_fault* fault) {
  bantam::SessionOptions read;
  if (out == nullptr || !to_cpp(options, &read)) return BANTAM_INVALID_ARGUMENT;
  Session* session = nullptr;
  bantam::Fault why;
  const Status status = Session::create(to_cpp(model), read, arena, size, &session, &why);
  store(why, fault);
  if (status == Status::kOk) *out = reinterpret_cast<bantam_session*>(session);
  return to_c(status);
}

bantam_status bantam_session_run_ids(bantam_session* session, const int32_t* ids, const int32_t* segments,
                                     const uint32_t* offsets, uint32_t sequences, uint32_t tokens) {
  return with(session, [&](Session& s) { return s.run({ids, segments, offsets, sequences, tokens}); });
}

bantam_status bantam_session_run_marked_ids(bantam_session* session, const int32_t* ids, const int32_t* segments,
                                            const int32_t* marks, const uint32_t* offsets, uint32_t sequences,
                                            uint32_t tokens) {
  bantam::Batch batch = {ids, segments, offsets, sequences, tokens};
  batch.marks = marks;
  return with(session, [&](Session& s) { return s.run(batch); });
}

bantam_status bantam_session_run_features(bantam_session* session, const float* features, const uint32_t* offsets,
                                          uint32_t sequences, uint32_t tokens) {
  bantam::Batch batch = {nullptr, nullptr, offsets, sequences, tokens};
  batch.features = features;
  return with(session, [&](Session& s) { return s.run(batch); });
}

#if BANTAM_IF_LINKED(op_Features)
bantam_status bantam_model_image_form(const bantam_model* model, bantam_image_form* out) {
  const Model* m = opened(model);
  if (m == nullptr || out == nullptr) return BANTAM_INVALID_ARGUMENT;
  bantam::ImageForm form;
  const Status status = bantam::image_form(*m, &form);
  if (status == Status::kOk) *out = {form.width, form.height, form.channels, form.tokens, form.columns};
  return to_c(status);
}

bantam_status bantam_image_features(const bantam_model* model, const uint8_t* pixels, size_t stride, float* features) {
  const Model* m = opened(model);
  return m == nullptr ? BANTAM_INVALID_ARGUMENT : to_c(bantam::image_features(*m, pixels, stride, features));
}
#endif

void bantam_encode_options_init_sized(bantam_encode_options* options, size_t size) {
  write_options(encode_defaults(), options, size);
}

void bantam_session_clear(bantam_session* session) {
  if (session != nullptr) to_cpp(session)->clear();
}

bantam_status bantam_session_add(bantam_session* session, bantam_text first, bantam_text second,
                                 const bantam_encode_options* options) {
  bantam::EncodeOptions read;
  if (!to_cpp(options, &read)) return BANTAM_INVALID_ARGUMENT;
  return with(session, [&](Session& s) { return s.add(to_cpp(first), to_cpp(second), read); });
}

bantam_status bantam_session_add_labelled(bantam_session* session, bantam_text text, const bantam_text* labels,
                                          uint32_t count, const bantam_encode_options* options) {
  bantam::EncodeOptions read;
  if (!to_cpp(options, &read)) return BANTAM_INVALID_ARGUMENT;
  return with(session,
              [&](Session& s) { return s.add_labelled(to_cpp(text), same<const bantam::Text>(labels), count, read); });
}

bantam_status bantam_session_mark(bantam_session* session, uint32_t sequence, int second, bantam_offset bytes,
                                  int32_t mark, int* found) {
  bool there = false;
  const bantam_status status = with(session, [&](Session& s) {
    return s.mark(sequence, second != 0, {bytes.begin, bytes.end}, mark, &there);
  });
  if (found != nullptr) *found = there ? 1 : 0;
  return status;
}

bantam_status bantam_session_run(bantam_session* session) {
  return with(session, [](Session& s) { return s.run(); });
}

bantam_status bantam_session_run_rows(bantam_session* session, const uint32_t* rows, uint32_t count) {
  return with(session, [=](Session& s) { return s.run(rows, count); });
}

bantam_status bantam_session_run_masks(bantam_session* session) {
  return with(session, [](Session& s) { return s.run_masks(); });
}

bantam_status bantam_session_run_texts(bantam_session* session, const char* bytes, const uint64_t* offsets,
                                       uint32_t inputs, int pairs, const bantam_encode_options* options,
                                       uint32_t* taken) {
  if (taken != nullptr) *taken = 0;
  bantam::EncodeOptions read;
  if (bytes == nullptr || offsets == nullptr || inputs == 0 || taken == nullptr || !to_cpp(options, &read)) {
    return BANTAM_INVALID_ARGUMENT;
  }
  return with(session, [&](Session& s) {
    // The cast is lossless: the text lies in memory, so its size fits in a size_t.
    const auto text = [&](uint64_t i) {
      return bantam::Text{bytes + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
    };
    const uint64_t each = pairs != 0 ? 2 : 1;
    uint32_t added = 0;
    s.clear();
    for (Status status = Status::kOk; added < inputs; ++added) {
      const uint64_t i = added * each;
      if (offsets[i] > offsets[i + 1] || offsets[i + 1] > offsets[i + each]) return Status::kInvalidArgument;
      status = s.add(text(i), pairs != 0 ? text(i + 1) : bantam::Text{}, read);
      if (status == Status::kOk) continue;
      if (added == 0) return status;
      break;
    }
    const Status status = s.run_masks();
    if (status == Status::kOk) *taken = added;
    return status;
  });
}

uint32_t bantam_session_sequence_count(const bantam_session* session) {
  return session == nullptr ? 0 : to_cpp(session)->sequence_count();
}

bantam_sequence bantam_session_sequence(const bantam_session* session, uint32_t index) {
  const bantam::EncodedSequence s = session == nullptr ? bantam::EncodedSequence() : to_cpp(session)->sequence(index);
  return {s.row_begin, s.row_count,   s.ids, s.segments, same<const bantam_offset>(s.offsets),
          s.sequences, to_c(s.result)};
}

const int32_t* bantam_session_marks(const bantam_session* session, uint32_t index) {
  return session == nullptr ? nullptr : to_cpp(session)->sequence(index).marks;
}

bantam_status bantam_session_output(const bantam_session* session, uint32_t output, uint32_t sequence,
                                    bantam_output* out) {
  if (session == nullptr || out == nullptr) return BANTAM_INVALID_ARGUMENT;
  const Session& s = *to_cpp(session);
  bantam::OutputView view;
  const Status status = sequence == BANTAM_ALL_SEQUENCES ? s.output(output, &view) : s.output(output, sequence, &view);
  if (status != Status::kOk) return to_c(status);
  *out = output_to_c(view);
  return BANTAM_OK;
}

size_t bantam_session_arena_high_water(const bantam_session* session) {
  return session == nullptr ? 0 : to_cpp(session)->arena_high_water();
}

// ------------------------------------------------------------------------------------------ tokenizer

bantam_status bantam_encode(const bantam_model* model, bantam_text first, bantam_text second,
                            const bantam_encode_options* options, const bantam_token_buffer* out,
                            bantam_encode_result* result) {
  bantam::EncodeOptions read;
  if (out == nullptr || result == nullptr || !to_cpp(options, &read)) return BANTAM_INVALID_ARGUMENT;
  bantam::Tokenizer tokenizer;
  const Status opened_status = bantam::Tokenizer::open(to_cpp(model), 0, &tokenizer);
  if (opened_status != Status::kOk) return to_c(opened_status);
  const bantam::TokenBuffer buffer = {out->ids, out->segments, same<bantam::Offset>(out->offsets), out->sequences,
                                      out->capacity};
  bantam::EncodeResult encoded;
  const Status status = tokenizer.encode(to_cpp(first), to_cpp(second), read, buffer, &encoded);
  *result = to_c(encoded);
  return to_c(status);
}

bantam_text bantam_token(const bantam_model* model, uint32_t id) {
  bantam::Tokenizer tokenizer;
  const bool open = bantam::Tokenizer::open(to_cpp(model), 0, &tokenizer) == Status::kOk;
  return open ? to_c(tokenizer.token(id)) : bantam_text{nullptr, 0};
}

#if BANTAM_IF_LINKED(Decode)
bantam_status bantam_decode(const bantam_model* model, const int32_t* ids, size_t count, int skip_special, char* out,
                            size_t capacity, size_t* size) {
  bantam::Tokenizer tokenizer;
  const Status status = bantam::Tokenizer::open(to_cpp(model), 0, &tokenizer);
  if (status != Status::kOk) return to_c(status);
  return to_c(bantam::decode(tokenizer, ids, count, skip_special != 0, out, capacity, size));
}
#endif

bantam_text bantam_token_piece(const bantam_model* model, uint32_t id) {
  bantam::Tokenizer tokenizer;
  const bool open = bantam::Tokenizer::open(to_cpp(model), 0, &tokenizer) == Status::kOk;
  return open ? to_c(tokenizer.piece(id)) : bantam_text{nullptr, 0};
}

int32_t bantam_mask_id(const bantam_model* model) {
  bantam::Tokenizer tokenizer;
  return bantam::Tokenizer::open(to_cpp(model), 0, &tokenizer) == Status::kOk ? tokenizer.mask_id() : -1;
}

int32_t bantam_token_id(const bantam_model* model, bantam_text token) {
  bantam::Tokenizer tokenizer;
  if (token.data == nullptr && token.size != 0) return -1;
  const bool open = bantam::Tokenizer::open(to_cpp(model), 0, &tokenizer) == Status::kOk;
  return open ? tokenizer.id(to_cpp(token)) : -1;
}

// ---------------------------------------------------------------------------------------------- tasks

uint32_t bantam_task_label_sets(const bantam_model* model) {
  const Model* m = opened(model);
  return m == nullptr ? 0 : bantam::task_label_sets(*m);
}

#if BANTAM_IF_LINKED(part_Labels) || BANTAM_IF_LINKED(part_Choice) || BANTAM_IF_LINKED(part_Follows) || \
    BANTAM_IF_LINKED(FurtherSets) || BANTAM_IF_LINKED(Parents)
bantam_status bantam_classify(const bantam_session* session, uint32_t sequence, bantam_label_score* out,
                              uint32_t capacity, uint32_t* count, uint32_t* above) {
  return with(session, [&](const Session& s) {
    return bantam::classify(s, sequence, same<bantam::LabelScore>(out), capacity, count, above);
  });
}

bantam_status bantam_classify_set(const bantam_session* session, uint32_t sequence, uint32_t set,
                                  bantam_label_score* out, uint32_t capacity, uint32_t* count, uint32_t* above) {
  return with(session, [&](const Session& s) {
    return bantam::classify(s, sequence, same<bantam::LabelScore>(out), capacity, count, above, set);
  });
}

bantam_status bantam_label_logits(const bantam_session* session, uint32_t sequence, uint32_t set, const float** out,
                                  uint32_t* width) {
  return with(session, [&](const Session& s) { return bantam::label_logits(s, sequence, out, width, set); });
}

bantam_status bantam_choose(const bantam_session* session, uint32_t first, uint32_t choices, bantam_label_score* out,
                            uint32_t capacity, uint32_t* count) {
  return with(session, [&](const Session& s) {
    return bantam::choose(s, first, choices, same<bantam::LabelScore>(out), capacity, count);
  });
}
#endif

#if BANTAM_IF_LINKED(part_Words) || BANTAM_IF_LINKED(FurtherSets) || BANTAM_IF_LINKED(Parents)
bantam_status bantam_tag(const bantam_session* session, uint32_t sequence, bantam_text text, bantam_entity* out,
                         uint32_t capacity, uint32_t* count) {
  return with(session, [&](const Session& s) {
    return bantam::tag(s, sequence, to_cpp(text), same<bantam::Entity>(out), capacity, count);
  });
}

bantam_status bantam_tag_set(const bantam_session* session, uint32_t sequence, uint32_t set, bantam_text text,
                             bantam_entity* out, uint32_t capacity, uint32_t* count) {
  return with(session, [&](const Session& s) {
    return bantam::tag(s, sequence, to_cpp(text), same<bantam::Entity>(out), capacity, count, set);
  });
}

bantam_status bantam_tag_as(const bantam_session* session, uint32_t sequence, uint32_t set,
                            bantam_aggregation aggregation, bantam_text text, bantam_entity* out, uint32_t capacity,
                            uint32_t* count) {
  const auto number = static_cast<uint32_t>(aggregation);
  if (number > UINT8_MAX) return BANTAM_INVALID_ARGUMENT;
  return with(session, [&](const Session& s) {
    return bantam::tag(s, sequence, to_cpp(text), same<bantam::Entity>(out), capacity, count, set,
                       static_cast<bantam::Aggregation>(number));
  });
}
#endif

#if BANTAM_IF_LINKED(part_Found)
void bantam_find_options_init_sized(bantam_find_options* options, size_t size) {
  write_options(find_defaults(), options, size);
}

bantam_status bantam_find(const bantam_session* session, uint32_t sequence, const bantam_find_options* options,
                          bantam_entity* out, uint32_t capacity, uint32_t* count) {
  bantam::FindOptions read;
  if (!to_cpp(options, &read)) return BANTAM_INVALID_ARGUMENT;
  return with(session, [&](const Session& s) {
    return bantam::find(s, sequence, read, same<bantam::Entity>(out), capacity, count);
  });
}
#endif

#if BANTAM_IF_LINKED(part_Span)
bantam_status bantam_find_answer(const bantam_session* session, uint32_t sequence, bantam_answer* out) {
  if (out == nullptr) return BANTAM_INVALID_ARGUMENT;
  return with(session, [&](const Session& s) {
    bantam::Answer a;
    const Status status = bantam::answer(s, sequence, &a);
    if (status == Status::kOk) {
      *out = {{a.span.begin, a.span.end}, a.score, a.logit, a.no_answer, a.mass, a.answerable ? 1u : 0u};
    }
    return status;
  });
}
#endif

bantam_status bantam_embed(const bantam_session* session, uint32_t sequence, const float** out, uint32_t* width) {
  return with(session, [&](const Session& s) { return bantam::embed(s, sequence, out, width); });
}

bantam_status bantam_embed_tokens(const bantam_session* session, uint32_t sequence, bantam_output* out) {
  if (out == nullptr) return BANTAM_INVALID_ARGUMENT;
  return with(session, [&](const Session& s) {
    bantam::OutputView view;
    const Status status = bantam::embed_tokens(s, sequence, &view);
    if (status == Status::kOk) *out = output_to_c(view);
    return status;
  });
}

bantam_status bantam_terms(const bantam_session* session, uint32_t sequence, bantam_candidate* out, uint32_t capacity,
                           uint32_t* count) {
  return with(session, [&](const Session& s) {
    return bantam::terms(s, sequence, same<bantam::Candidate>(out), capacity, count);
  });
}

#if BANTAM_IF_LINKED(part_Masks) || BANTAM_IF_LINKED(part_NextWords)
bantam_status bantam_fill(const bantam_session* session, uint32_t sequence, uint32_t mask, bantam_candidate* out,
                          uint32_t capacity, uint32_t* count) {
  return with(session, [&](const Session& s) {
    return bantam::fill(s, sequence, mask, same<bantam::Candidate>(out), capacity, count);
  });
}

bantam_status bantam_next_words(const bantam_session* session, uint32_t sequence, bantam_candidate* out,
                                uint32_t capacity, uint32_t* count) {
  return with(session, [&](const Session& s) {
    return bantam::next_words(s, sequence, same<bantam::Candidate>(out), capacity, count);
  });
}
#endif

#if BANTAM_IF_LINKED(part_Labels) || BANTAM_IF_LINKED(part_Choice) || BANTAM_IF_LINKED(part_Follows) || \
    BANTAM_IF_LINKED(FurtherSets) || BANTAM_IF_LINKED(Parents)
bantam_status bantam_next_sentence(const bantam_session* session, uint32_t sequence, float* probability) {
  return with(session, [&](const Session& s) { return bantam::next_sentence(s, sequence, probability); });
}
#endif

}  // extern "C"
