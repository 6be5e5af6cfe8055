// Uses untrusted bytes as a user would: open, create, run, read. For corruption tests and fuzzing.
#ifndef BANTAM_TESTS_SESSION_EXERCISE_H_
#define BANTAM_TESTS_SESSION_EXERCISE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bantam/session.h"

namespace bantam::testing {

/// Larger arenas are legal, but make no test better.
constexpr size_t kLargestArena = size_t{32} << 20;

/// Status of open; whatever it is, nothing may crash, hang or leave memory that was handed over. `bytes` is
/// 16-byte aligned.
inline Status exercise(const uint8_t* bytes, size_t size, std::vector<uint8_t>* arena_storage) {
  Model model;
  Fault fault;
  const Status status = Model::open(bytes, size, &model, &fault);
  if (status != Status::kOk) return status;
  SessionOptions options;
  options.max_tokens = 24;
  options.max_sequences = 2;
  options.f32_attention = bytes[size / 2] % 2 == 1;  // either, as the bytes have it
  const size_t needed = arena_bytes(model, options);
  if (needed == 0 || needed > kLargestArena) return status;
  if (arena_storage->size() < needed + 64) arena_storage->resize(needed + 64);
  uint8_t* arena = arena_storage->data() + (64 - reinterpret_cast<uintptr_t>(arena_storage->data()) % 64) % 64;
  Session* session = nullptr;
  if (Session::create(model, options, arena, needed, &session, &fault) != Status::kOk) return status;
  const uint32_t longest = model.max_sequence() == 0 ? 12 : std::min(12u, model.max_sequence());
  int32_t ids[24];
  for (uint32_t i = 0; i < 24; ++i) ids[i] = static_cast<int32_t>(i * 7 % model.vocabulary());
  const uint32_t offsets[3] = {0, longest, 2 * longest};
  Batch batch;
  batch.ids = ids;
  batch.offsets = offsets;
  batch.sequences = 2;
  batch.tokens = 2 * longest;
  if (session->run(batch) != Status::kOk) return status;
  volatile float sink = 0;
  for (uint32_t i = 0; i < model.output_count(); ++i) {
    OutputView view;
    if (session->output(i, &view) == Status::kOk) sink = view.data[(view.rows - 1) * view.stride + view.width - 1];
  }
  if (!model.has_tokenizer()) return status;
  session->clear();
  const char words[] = "Turn the lights on in the kitchen, \xE4\xBD\xA0\xE5\xA5\xBD \xFF!";
  if (session->add({words, sizeof(words) - 1}, {}, {}) == Status::kOk && session->run() == Status::kOk) {
    sink = static_cast<float>(session->sequence(0).result.count);
  }
  (void)sink;
  return status;
}

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_SESSION_EXERCISE_H_
