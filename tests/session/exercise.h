// Uses untrusted bytes as a user would: open, create, run, read outputs, call tasks. For corruption tests and fuzzing.
#ifndef BANTAM_TESTS_SESSION_EXERCISE_H_
#define BANTAM_TESTS_SESSION_EXERCISE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bantam/sampling.h"
#include "bantam/session.h"
#include "bantam/tasks.h"

namespace bantam::testing {

/// Larger arenas are legal but do not improve any test.
constexpr size_t kLargestArena = size_t{32} << 20;

/// All results of a run and of the tasks after it, as bytes, so that two runs can be compared.
class Transcript {
 public:
  template <typename T>
  void put(const T& value) {
    put(&value, sizeof(value));
  }
  void put(const void* bytes, size_t size) {
    const auto* all = static_cast<const uint8_t*>(bytes);
    for (size_t i = 0; i < size; ++i) hash_ = (hash_ ^ all[i]) * 0x100000001B3u;
  }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0xCBF29CE484222325u;
};

inline void put_outputs(const Session& session, uint32_t outputs, Transcript* said) {
  for (uint32_t i = 0; i < outputs; ++i) {
    OutputView view;
    said->put(session.output(i, &view));
    if (view.data == nullptr) continue;
    for (uint32_t row = 0; row < view.rows; ++row) said->put(view.data + row * view.stride, view.width * sizeof(float));
  }
}

/// Calls every task on sequence 0, whatever the file's own task is; most return that they do not apply.
inline void ask_tasks(const Model& model, const Session& session, Text text, Transcript* said) {
  constexpr uint32_t kMost = 16;
  LabelScore labels[kMost];
  uint32_t count = 0, above = 0;
  const auto put_labels = [&](Status status) {
    said->put(status);
    if (status != Status::kOk) return;
    for (uint32_t i = 0; i < std::min(count, kMost); ++i) {
      said->put(labels[i].label);
      said->put(labels[i].score);
    }
  };
  put_labels(classify(session, 0, labels, kMost, &count, &above));
  put_labels(choose(session, 0, session.sequence_count(), labels, kMost, &count));
  Offset words[kMost];
  put_labels(tag_words(session, 0, text, words, labels, kMost, &count));
  Entity entities[kMost];
  if (tag(session, 0, text, entities, kMost, &count) == Status::kOk) {
    for (uint32_t i = 0; i < count; ++i) {
      said->put(entities[i].name.data, entities[i].name.size);
      said->put(entities[i].score);
    }
  }
  Answer best;
  const Status answered = answer(session, 0, &best);
  said->put(answered);
  if (answered == Status::kOk) {
    said->put(best.span.begin);
    said->put(best.score);
    said->put(best.mass);
    said->put(merge_answer(model, best, &best));
  }
  const float* values = nullptr;
  uint32_t width = 0;
  if (embed(session, 0, &values, &width) == Status::kOk) said->put(values, width * sizeof(float));
  if (label_logits(session, 0, &values, &width) == Status::kOk) said->put(values, width * sizeof(float));
  Candidate candidates[kMost];
  if (fill(session, 0, 0, candidates, kMost, &count) == Status::kOk) {
    for (uint32_t i = 0; i < count; ++i) said->put(candidates[i].id);
  }
  if (find(session, 0, {0.3f, true, true}, entities, kMost, &count) == Status::kOk) {
    for (uint32_t i = 0; i < count; ++i) {
      said->put(entities[i].label);
      said->put(entities[i].span.end);
    }
  }
  float probability = 0;
  if (next_sentence(session, 0, &probability) == Status::kOk) said->put(probability);
}

/// Truncates, swaps and continues contexts, token by token.
inline void go_on(Session& session, const int32_t* ids, Transcript* said) {
  const uint32_t from[2] = {1, 0}, ends[3] = {0, 1, 2};
  said->put(session.truncate(0, 3));
  said->put(session.reorder_contexts(from, 2));
  said->put(session.truncate(0, 5));
  said->put(session.copy_context(1, 0));
  Batch batch;
  batch.ids = ids;
  batch.offsets = ends;
  batch.sequences = batch.tokens = 2;
  batch.last_rows = true;
  for (uint32_t step = 0; step < 3; ++step) {
    const Status status = session.run(batch);
    said->put(status);
    if (status != Status::kOk) return;
    for (uint32_t sequence = 0; sequence < 2; ++sequence) {
      NextToken next;
      said->put(next_token(session, sequence, {}, &next));
      said->put(next.id);
    }
  }
}

/// Returns the status of open. Whatever it is, nothing may crash, hang or access memory outside the given blocks.
/// `bytes` must be 16-byte aligned. The arena is first filled with `garbage`, on which results must not depend.
inline Status exercise(const uint8_t* bytes, size_t size, std::vector<uint8_t>* arena_storage, uint8_t garbage = 0,
                       Transcript* transcript = nullptr) {
  Model model;
  Fault fault;
  const Status status = Model::open(bytes, size, &model, &fault);
  if (status != Status::kOk) return status;
  SessionOptions options;
  options.max_tokens = 24;
  options.max_sequences = 2;
  options.f32_attention = bytes[size / 2] % 2 == 1;  // either, depending on the bytes
  const bool pair = model.source_vocabulary() != 0;
  if (pair) options.max_source = 24;
  options.max_context = 12;
  if (arena_bytes(model, options) == 0) options.max_context = 0;  // most models have no contexts
  const size_t needed = arena_bytes(model, options);
  if (needed == 0 || needed > kLargestArena) return status;
  if (arena_storage->size() < needed + 64) arena_storage->resize(needed + 64);
  uint8_t* arena = arena_storage->data() + (64 - reinterpret_cast<uintptr_t>(arena_storage->data()) % 64) % 64;
  std::memset(arena, garbage, needed);
  Session* session = nullptr;
  if (Session::create(model, options, arena, needed, &session, &fault) != Status::kOk) return status;
  Transcript unheard;
  Transcript& said = transcript == nullptr ? unheard : *transcript;
  const uint32_t longest = model.max_sequence() == 0 ? 12 : std::min(12u, model.max_sequence());
  int32_t ids[24], marks[24];
  for (uint32_t i = 0; i < 24; ++i) ids[i] = static_cast<int32_t>(i * 7 % model.vocabulary());
  for (uint32_t i = 0; i < 24; ++i) marks[i] = static_cast<int32_t>(i % model.mark_types());
  const uint32_t offsets[3] = {0, longest, 2 * longest};
  Batch batch;
  batch.ids = ids;
  batch.offsets = offsets;
  batch.sequences = 2;
  batch.tokens = 2 * longest;
  if (pair) {
    int32_t sources[24];
    for (uint32_t i = 0; i < 24; ++i) sources[i] = static_cast<int32_t>(i * 5 % model.source_vocabulary());
    batch.ids = sources;
    said.put(session->encode(batch));
    batch.ids = ids;
  }
  batch.marks = marks;
  constexpr uint32_t kWide = 1U << 16;
  std::vector<float> features(model.feature_width() > kWide ? 0 : size_t{24} * model.feature_width());
  for (size_t i = 0; i < features.size(); ++i) features[i] = static_cast<float>(i % 17) / 8 - 1;
  if (!features.empty()) batch.features = features.data();
  const Status ran = session->run(batch);
  said.put(ran);
  if (ran != Status::kOk) return status;
  put_outputs(*session, model.output_count(), &said);
  ask_tasks(model, *session, {}, &said);
  if (session->max_context() != 0) go_on(*session, ids, &said);
  if (!model.has_tokenizer()) return status;
  const char words[] = "Turn the lights on in the kitchen, \xE4\xBD\xA0\xE5\xA5\xBD \xFF!";
  const Text first = {words, sizeof(words) - 1}, second = {words + 9, 10};
  for (const Text& other : {Text{}, second}) {
    session->clear();
    if (session->add(first, other, {}) != Status::kOk || session->run() != Status::kOk) continue;
    put_outputs(*session, model.output_count(), &said);
    ask_tasks(model, *session, first, &said);
  }
  session->clear();
  if (session->add_labelled(first, &second, 1, {}) != Status::kOk || session->run() != Status::kOk) return status;
  put_outputs(*session, model.output_count(), &said);
  ask_tasks(model, *session, first, &said);
  return status;
}

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_SESSION_EXERCISE_H_
