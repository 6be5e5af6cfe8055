/* The C API in C99: opens argv[1], classifies argv[2] and checks what comes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bantam/bantam.h"

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      return 1;                                                                     \
    }                                                                               \
  } while (0)

static void* aligned(size_t size) {
  void* block = NULL;
  return posix_memalign(&block, 64, size) == 0 ? block : NULL;
}

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  void* bytes;
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  bytes = aligned(*size);
  if (bytes != NULL && fread(bytes, 1, *size, file) != *size) bytes = NULL;
  fclose(file);
  return bytes;
}

int main(int argc, char** argv) {
  static const int32_t kBadIds[1] = {-1};
  bantam_model model;
  bantam_session_options options;
  bantam_session* session = NULL;
  bantam_fault fault;
  bantam_encode_result result;
  bantam_token_buffer buffer;
  bantam_sequence sequence;
  bantam_output output;
  bantam_label_score best[3];
  bantam_offset offsets[32];
  bantam_text text, none = {NULL, 0}, first_token;
  int32_t ids[32];
  uint32_t count = 0, above = 0;
  size_t size = 0, arena_size;
  void *bytes, *arena;

  CHECK(argc == 3);
  bytes = read_file(argv[1], &size);
  CHECK(bytes != NULL);
  CHECK(bantam_model_open(bytes, 100, &model, &fault) == BANTAM_TRUNCATED);
  CHECK(strlen(fault.what) > 0);
  CHECK(bantam_model_open(bytes, size, &model, NULL) == BANTAM_OK);
  CHECK(bantam_model_task(&model) == BANTAM_TASK_CLASSIFY);
  CHECK(bantam_model_has_tokenizer(&model));
  CHECK(bantam_model_output_count(&model) == 2);
  CHECK(bantam_model_output_name(&model, 0).size == strlen("logits"));
  CHECK(bantam_model_label_set_count(&model) == 1);
  CHECK(bantam_model_label_count(&model, 0) == 3);
  CHECK(memcmp(bantam_model_label(&model, 0, 1).data, "label1", 6) == 0);
  CHECK(bantam_model_segment_types(&model) == 2);
  CHECK(bantam_model_max_sequence(&model) == 96);
  CHECK(strcmp(bantam_status_message(BANTAM_OK), "ok") == 0);

  bantam_session_options_init(&options);
  options.max_sequences = 2;
  arena_size = bantam_arena_bytes(&model, &options);
  CHECK(arena_size > 0);
  arena = aligned(arena_size);
  CHECK(arena != NULL);
  CHECK(bantam_session_create(&model, &options, arena, arena_size - 1, &session, &fault) == BANTAM_ARENA_TOO_SMALL);
  CHECK(bantam_session_create(&model, &options, arena, arena_size, &session, &fault) == BANTAM_OK);
  CHECK(bantam_session_output(session, 0, 0, &output) == BANTAM_NOT_RUN);
  CHECK(bantam_session_run_ids(session, kBadIds, NULL, NULL, 1, 1) == BANTAM_INDEX_OUT_OF_RANGE);

  text.data = argv[2];
  text.size = strlen(argv[2]);
  bantam_session_clear(session);
  CHECK(bantam_session_add(session, text, none, NULL) == BANTAM_OK);
  CHECK(bantam_session_add(session, text, text, NULL) == BANTAM_OK);
  CHECK(bantam_session_run(session) == BANTAM_OK);
  CHECK(bantam_session_sequence_count(session) == 2);
  sequence = bantam_session_sequence(session, 0);
  CHECK(sequence.row_count > 2 && sequence.result.count == sequence.row_count);
  CHECK(sequence.offsets[sequence.row_count - 2].end == text.size);
  CHECK(bantam_session_output(session, 0, BANTAM_ALL_SEQUENCES, &output) == BANTAM_OK);
  CHECK(output.rows == 2 && output.width == 3 && !output.per_token);
  CHECK(bantam_classify(session, 0, best, 3, &count, &above) == BANTAM_OK);
  CHECK(count == 3 && above == 1 && best[0].score >= best[1].score && best[1].score >= best[2].score);
  CHECK(bantam_find_answer(session, 0, NULL) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_session_arena_high_water(session) <= arena_size);

  memset(&buffer, 0, sizeof(buffer));
  buffer.ids = ids;
  buffer.offsets = offsets;
  buffer.capacity = 32;
  CHECK(bantam_encode(&model, text, none, NULL, &buffer, &result) == BANTAM_OK);
  CHECK(result.count == sequence.row_count && !result.truncated);
  CHECK(memcmp(ids, sequence.ids, result.count * sizeof(ids[0])) == 0);
  first_token = bantam_token(&model, (uint32_t)ids[0]);
  CHECK(first_token.size == 5 && memcmp(first_token.data, "[CLS]", 5) == 0);
  CHECK(bantam_token_id(&model, first_token) == ids[0]);
  free(arena);
  free(bytes);
  return 0;
}
