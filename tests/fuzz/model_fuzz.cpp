// Arbitrary bytes as a .bantam file: opens it, creates a session, runs ids and text, reads the outputs and calls all
// tasks; then does the same with the C API. Each input is tried as it is and with corrected sizes in its header, so
// that changes of length reach the verifier. Results must not depend on the previous content of the arena.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bantam/bantam.h"
#include "format/header.h"
#include "tests/fuzz/limits.h"
#include "tests/session/exercise.h"

namespace {

/// Uses a file as a program in C does.
void use_c_api(const uint8_t* bytes, size_t size, std::vector<uint8_t>* arena) {
  bantam_model model;
  if (bantam_model_open(bytes, size, &model, nullptr) != BANTAM_OK) return;
  for (uint32_t set = 0; set < bantam_model_label_set_count(&model); ++set) {
    bantam_model_label(&model, set, bantam_model_label_count(&model, set) - 1);
  }
  bantam_token(&model, bantam_model_vocabulary(&model) - 1);
  bantam_token_id(&model, {"the", 3});
  bantam_session_options options;
  bantam_session_options_init(&options);
  options.max_tokens = 24;
  const size_t needed = bantam_arena_bytes(&model, &options);
  if (needed == 0 || needed > bantam::testing::kLargestArena) return;
  if (arena->size() < needed + 64) arena->resize(needed + 64);
  uint8_t* place = arena->data() + (64 - reinterpret_cast<uintptr_t>(arena->data()) % 64) % 64;
  bantam_session* session = nullptr;
  if (bantam_session_create(&model, &options, place, needed, &session, nullptr) != BANTAM_OK) return;
  const bantam_text text = {"who wrote it", 12}, second = {"jane wrote it", 13};
  const bool labelled = bantam_model_task(&model) == BANTAM_TASK_FIND;
  const bantam_status added = labelled ? bantam_session_add_labelled(session, text, &second, 1, nullptr)
                                       : bantam_session_add(session, text, second, nullptr);
  if (added != BANTAM_OK) return;
  if (bantam_session_run(session) != BANTAM_OK) return;
  const bantam_sequence sequence = bantam_session_sequence(session, 0);
  (void)sequence;
  bantam_label_score labels[8];
  bantam_entity entities[8];
  bantam_candidate candidates[8];
  bantam_answer answer;
  bantam_output output;
  const float* vector = nullptr;
  float probability = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < bantam_model_output_count(&model); ++i) {
    bantam_model_output_name(&model, i);
    bantam_session_output(session, i, 0, &output);
  }
  bantam_classify(session, 0, labels, 8, &count, nullptr);
  bantam_choose(session, 0, 1, labels, 8, &count);
  bantam_tag(session, 0, text, entities, 8, &count);
  bantam_find(session, 0, nullptr, entities, 8, &count);
  bantam_find_answer(session, 0, &answer);
  bantam_embed(session, 0, &vector, &count);
  bantam_fill(session, 0, 0, candidates, 8, &count);
  bantam_next_sentence(session, 0, &probability);
}

/// Runs a copy of exact size and alignment, so that sanitizers detect reading the first byte beyond it.
bantam::Status run_copy(const uint8_t* data, size_t size, bool repair) {
  static std::vector<uint8_t> arena;
  auto* bytes = static_cast<uint8_t*>(::operator new (size == 0 ? 1 : size, std::align_val_t{64}));
  if (size > 0) std::memcpy(bytes, data, size);
  if (repair) {
    const uint64_t file_size = size;
    std::memcpy(bytes + 16, &file_size, sizeof(file_size));
    uint64_t data_offset = 0;
    std::memcpy(&data_offset, bytes + 40, sizeof(data_offset));
    const uint64_t data_size = data_offset < size ? size - data_offset : 0;
    std::memcpy(bytes + 48, &data_size, sizeof(data_size));
  }
  bantam::testing::Transcript zeros, ones;
  const bantam::Status status = bantam::testing::exercise(bytes, size, &arena, 0, &zeros);
  if (status == bantam::Status::kOk) {
    bantam::testing::exercise(bytes, size, &arena, 0xFF, &ones);  // NaN, -1
    if (zeros.hash() != ones.hash()) std::abort();
    use_c_api(bytes, size, &arena);
  }
  ::operator delete (bytes, std::align_val_t{64});
  return status;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const bantam::fuzz::Limits limits(size);
  if (run_copy(data, size, false) != bantam::Status::kOk && size >= bantam::kHeaderBytes) run_copy(data, size, true);
  return 0;
}
