/* The C API in C99: opens argv[1], classifies argv[2] and checks the results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aligned.h"
#include "bantam/bantam.h"
#include "bantam/bantam_device.h"

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      return 1;                                                                     \
    }                                                                               \
  } while (0)

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

/* Null pointers, closed models, and structures of other versions of the header are handled without a crash. */
static int check_misuse(const bantam_model* model) {
  struct {
    bantam_session_options known;
    uint32_t later;
  } longer;
  bantam_session_options options;
  bantam_model closed;
  bantam_text text = {NULL, 5};
  bantam_output output;
  uint32_t count;
  memset(&closed, 0, sizeof(closed));
  CHECK(bantam_model_task(&closed) == BANTAM_TASK_NONE && bantam_model_task(NULL) == BANTAM_TASK_NONE);
  CHECK(bantam_model_role_prompt(&closed, BANTAM_TEXT_QUERY).size == 0);
  CHECK(bantam_model_name(&closed).size == 0 && bantam_model_label(NULL, 0, 0).size == 0);
  CHECK(bantam_model_vocabulary(&closed) == 0 && bantam_model_output_count(NULL) == 0);
  CHECK(!bantam_model_has_tokenizer(&closed));
  CHECK(bantam_token_id(model, text) == -1 && bantam_token(NULL, 0).size == 0);
  CHECK(bantam_session_run(NULL) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_session_output(NULL, 0, 0, &output) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_session_sequence(NULL, 0).row_count == 0);
  CHECK(bantam_classify(NULL, 0, NULL, 0, &count, NULL) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_session_run_texts(NULL, "", NULL, 1, 0, NULL, &count) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_model_tool(&closed).size == 0 && bantam_model_prompt(NULL).size == 0);
  text.size = 0;
  CHECK(bantam_model_property(model, text).size == 0 && bantam_model_property(NULL, text).size == 0);
  CHECK(bantam_model_max_tokens(&closed) == 0 && bantam_mask_id(&closed) == -1);
  CHECK(bantam_token_piece(NULL, 0).size == 0);
  bantam_session_clear(NULL);
  CHECK(bantam_arena_bytes(model, NULL) == 0);
  memset(&options, 0, sizeof(options));
  CHECK(bantam_arena_bytes(model, &options) == 0); /* not initialized */
  bantam_session_options_init(&options);
  CHECK(options.max_sequences == 1);
  CHECK(bantam_arena_bytes(NULL, &options) == 0 && bantam_arena_bytes(&closed, &options) == 0);

  /* The structure of an older caller is shorter: nothing beyond it is read or written. */
  memset(&options, 0x5A, sizeof(options));
  bantam_session_options_init_sized(&options, offsetof(bantam_session_options, tile_rows));
  CHECK(options.size == offsetof(bantam_session_options, tile_rows) && options.tile_rows == 0x5A5A5A5Au);
  CHECK(bantam_arena_bytes(model, &options) > 0);
  /* The structure of a later caller is longer: zeros are defaults. */
  bantam_session_options_init_sized(&longer.known, sizeof(longer));
  CHECK(longer.later == 0 && bantam_arena_bytes(model, &longer.known) > 0);
  longer.later = 1;
  CHECK(bantam_arena_bytes(model, &longer.known) == 0);
  return 0;
}

/* Several texts in one call: as many as there is room for, with the results of bantam_session_add. `one`: its result for
   `text`. */
static int check_texts(bantam_session* session, bantam_text text, bantam_label_score one) {
  uint64_t offsets[4] = {0, 0, 0, 0};
  bantam_label_score best[1];
  const float* logits = NULL;
  uint32_t taken = 7, count = 0, width = 0;
  offsets[1] = offsets[2] = offsets[3] = text.size; /* the second and the third are empty */
  CHECK(bantam_session_run_texts(session, text.data, offsets, 3, 0, NULL, &taken) == BANTAM_OK);
  CHECK(taken == 2 && bantam_session_sequence_count(session) == 2);
  CHECK(bantam_classify(session, 0, best, 1, &count, NULL) == BANTAM_OK);
  CHECK(best[0].label == one.label && memcmp(&best[0].score, &one.score, sizeof(one.score)) == 0);
  CHECK(bantam_label_logits(session, 0, 0, &logits, &width) == BANTAM_OK && width == 3);
  CHECK(logits[best[0].label] >= logits[0] && logits[best[0].label] >= logits[2]);
  CHECK(bantam_session_run_texts(session, text.data, offsets, 1, 1, NULL, &taken) == BANTAM_OK);
  CHECK(taken == 1 && bantam_session_sequence(session, 0).sequences != NULL);
  CHECK(bantam_session_run_texts(session, NULL, offsets, 1, 0, NULL, &taken) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_session_run_texts(session, text.data, offsets, 0, 0, NULL, &taken) == BANTAM_INVALID_ARGUMENT);
  offsets[1] = 0;
  offsets[0] = 1; /* ends before it begins */
  CHECK(bantam_session_run_texts(session, text.data, offsets, 1, 0, NULL, &taken) == BANTAM_INVALID_ARGUMENT);
  CHECK(taken == 0 && bantam_embed_tokens(session, 0, NULL) == BANTAM_INVALID_ARGUMENT);
  return 0;
}

/* Runs one operator at a time, for texts and for their ids, with the same answer as run(). */
static int check_steps(bantam_session* session, bantam_text text, bantam_label_score expected) {
  const bantam_text none = {NULL, 0};
  bantam_stepped_run run;
  bantam_label_score best;
  int32_t ids[32];
  uint32_t by_ids, executed, count, above;
  int done;

  for (by_ids = 0; by_ids < 2; ++by_ids) {
    bantam_session_clear(session);
    CHECK(bantam_session_add(session, text, none, NULL) == BANTAM_OK);
    if (by_ids) {
      const bantam_sequence sequence = bantam_session_sequence(session, 0);
      CHECK(sequence.row_count <= 32);
      memcpy(ids, sequence.ids, sequence.row_count * sizeof ids[0]);
      CHECK(bantam_stepped_run_begin_ids(&run, session, ids, NULL, NULL, 1, sequence.row_count) == BANTAM_OK);
    } else {
      CHECK(bantam_stepped_run_begin(&run, session) == BANTAM_OK);
    }
    CHECK(bantam_stepped_run_operators(&run) > 4);
    for (executed = 0, done = 0; !done; ++executed) {
      CHECK(bantam_stepped_run_executed(&run) == executed);
      CHECK(bantam_classify(session, 0, &best, 1, &count, &above) != BANTAM_OK);
      CHECK(bantam_stepped_run_advance(&run, 1, &done) == BANTAM_OK);
    }
    CHECK(executed == bantam_stepped_run_operators(&run));
    CHECK(bantam_classify(session, 0, &best, 1, &count, &above) == BANTAM_OK);
    CHECK(memcmp(&best, &expected, sizeof best) == 0);
  }
  bantam_session_clear(session);
  CHECK(bantam_stepped_run_begin(&run, session) == BANTAM_INVALID_ARGUMENT); /* no text */
  CHECK(bantam_stepped_run_advance(&run, 1, &done) == BANTAM_INVALID_ARGUMENT && !done);
  CHECK(bantam_stepped_run_begin(NULL, session) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_stepped_run_begin(&run, NULL) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_stepped_run_advance(&run, 1, NULL) == BANTAM_INVALID_ARGUMENT);
  return 0;
}

/* A partition that is longer than its file; and a file without its last byte. */
static int check_file(const unsigned char* bytes, size_t size) {
  unsigned char* flash = calloc(1, size + 100);
  bantam_file_check check;
  size_t found = 0;
  int lost, done = 0;

  CHECK(flash != NULL);
  memcpy(flash, bytes, size);
  CHECK(bantam_file_bytes(flash, size + 100, &found) == BANTAM_OK && found == size);
  CHECK(bantam_file_bytes(flash, size - 1, &found) == BANTAM_TRUNCATED);
  for (lost = 0; lost < 2; ++lost) {
    bantam_status status = BANTAM_OK;
    size_t slices = 0;
    CHECK(bantam_file_check_begin(&check, flash, size) == BANTAM_OK);
    for (done = 0; status == BANTAM_OK && !done; ++slices) {
      status = bantam_file_check_advance(&check, 1000, &done);
    }
    CHECK(status == (lost ? BANTAM_CORRUPT : BANTAM_OK) && done == !lost);
    CHECK(slices > size / 1000 && bantam_file_check_checked(&check) == size);
    flash[size - 1] ^= 1;
  }
  CHECK(bantam_file_check_begin(NULL, flash, size) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_file_check_begin(&check, NULL, size) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_file_check_advance(&check, 1, &done) == BANTAM_INVALID_ARGUMENT);
  free(flash);
  return 0;
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
  char decoded[64];
  size_t text_size = 0;
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
  CHECK(check_misuse(&model) == 0);
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
  CHECK(bantam_find(session, 0, NULL, NULL, 0, &count) == BANTAM_NO_SUCH_TASK);
  CHECK(bantam_session_add_labelled(session, text, &text, 1, NULL) == BANTAM_NO_SUCH_TASK);
  CHECK(bantam_model_mark_types(&model) == 1 && bantam_session_marks(session, 0) == NULL);
  CHECK(bantam_session_arena_high_water(session) <= arena_size);

  CHECK(check_file(bytes, size) == 0);
  CHECK(check_steps(session, text, best[0]) == 0);
  CHECK(check_texts(session, text, best[0]) == 0);
  CHECK(bantam_model_max_tokens(&model) > 0 && bantam_model_max_tokens(&model) <= 96);
  bantam_session_clear(session);
  CHECK(bantam_session_add(session, text, none, NULL) == BANTAM_OK);
  sequence = bantam_session_sequence(session, 0);

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
  CHECK(bantam_decode(&model, ids, result.count, 1, NULL, 0, &text_size) == BANTAM_BUFFER_TOO_SMALL);
  CHECK(text_size > 0 && text_size <= sizeof(decoded));
  CHECK(bantam_decode(&model, ids, result.count, 1, decoded, sizeof(decoded), &text_size) == BANTAM_OK);
  CHECK(bantam_decode(&model, NULL, 1, 1, decoded, sizeof(decoded), &text_size) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_decode(NULL, ids, 1, 1, decoded, sizeof(decoded), &text_size) != BANTAM_OK);
  free_aligned(arena);
  free_aligned(bytes);
  return 0;
}
