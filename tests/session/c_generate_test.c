/* Generation with the C API in C99: argv[1] is a decoder, argv[2] an encoder-decoder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aligned.h"
#include "bantam/bantam_generate.h"

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      return 1;                                                                     \
    }                                                                               \
  } while (0)

enum { kNew = 12, kContext = 32, kBeams = 3 };

static int open_model(const char* path, bantam_model* model) {
  FILE* file = fopen(path, "rb");
  size_t size;
  void* bytes;
  CHECK(file != NULL);
  fseek(file, 0, SEEK_END);
  size = (size_t)ftell(file);
  rewind(file);
  bytes = aligned(size);
  CHECK(bytes != NULL && fread(bytes, 1, size, file) == size);
  fclose(file);
  CHECK(bantam_model_open(bytes, size, model, NULL) == BANTAM_OK);
  return 0;
}

static int create(const bantam_model* model, bantam_session** session) {
  bantam_session_options options;
  size_t size;
  bantam_session_options_init(&options);
  options.max_sequences = kBeams;
  options.max_context = kContext;
  size = bantam_arena_bytes(model, &options);
  CHECK(size != 0);
  CHECK(bantam_session_create(model, &options, aligned(size), size, session, NULL) == BANTAM_OK);
  return 0;
}

/* Greedy decoding after `prompt`, whose first `first` tokens are added to the context in a run of their own. */
static int greedy(bantam_session* session, const int32_t* prompt, uint32_t count, uint32_t first, int32_t* ids) {
  bantam_batch batch;
  bantam_next next;
  uint32_t made;
  bantam_batch_init(&batch);
  batch.last_rows = 1;
  CHECK(bantam_session_truncate(session, 0, 0) == BANTAM_OK);
  if (first != 0) {
    batch.ids = prompt;
    batch.tokens = first;
    CHECK(bantam_session_run_batch(session, &batch) == BANTAM_OK);
  }
  batch.ids = prompt + first;
  batch.tokens = count - first;
  for (made = 0; made < kNew; ++made) {
    CHECK(bantam_session_run_batch(session, &batch) == BANTAM_OK);
    CHECK(bantam_next_token(session, 0, NULL, &next) == BANTAM_OK);
    ids[made] = next.id;
    batch.ids = ids + made;
    batch.tokens = 1;
  }
  CHECK(bantam_session_context_length(session, 0) == count + kNew - 1);
  CHECK(memcmp(bantam_session_context_ids(session, 0), prompt, count * sizeof(*prompt)) == 0);
  return 0;
}

/* The same text by guesses, some of which are wrong: of the text itself, and what guess_repeat says. */
static int guessed(bantam_session* session, const int32_t* prompt, uint32_t count, const int32_t* ids) {
  bantam_batch batch;
  bantam_next next;
  bantam_guess_count counter;
  int32_t run[1 + BANTAM_MOST_GUESSES], text[kContext];
  uint32_t made = 0, kept, guesses, way;
  for (way = 0; way < 2; ++way) {
    CHECK(bantam_session_truncate(session, 0, 0) == BANTAM_OK);
    bantam_batch_init(&batch);
    batch.ids = prompt;
    batch.tokens = count;
    CHECK(bantam_session_run_batch(session, &batch) == BANTAM_OK);
    CHECK(bantam_next_token_of_row(session, 0, count, NULL, &next) == BANTAM_INDEX_OUT_OF_RANGE);
    CHECK(bantam_next_token_of_row(session, 0, count - 1, NULL, &next) == BANTAM_OK);
    memcpy(text, prompt, count * sizeof(*prompt));
    text[count] = next.id;
    bantam_guess_count_init(&counter, 4);
    for (made = 1; made < kNew;) {
      run[0] = text[count + made - 1];
      guesses = bantam_guess_count_next(&counter);
      if (guesses > kNew - made - 1) guesses = kNew - made - 1;
      if (way == 0) {
        memcpy(run + 1, ids + made, guesses * sizeof(*ids));
        if (guesses > 2) run[3] += 1; /* a wrong one */
      } else {
        guesses = bantam_guess_repeat(text, count + made, guesses, run + 1);
      }
      batch.ids = run;
      batch.tokens = 1 + guesses;
      CHECK(bantam_session_run_batch(session, &batch) == BANTAM_OK);
      for (kept = 0;; ++kept) {
        CHECK(bantam_next_token_of_row(session, 0, kept, NULL, &next) == BANTAM_OK);
        text[count + made++] = next.id;
        if (kept == guesses || next.id != run[1 + kept]) break;
      }
      CHECK(way != 0 || guesses <= 2 || kept == 2);
      bantam_guess_count_took(&counter, guesses, kept);
      CHECK(bantam_session_truncate(session, 0, bantam_session_context_length(session, 0) - (guesses - kept)) ==
            BANTAM_OK);
    }
    CHECK(made == kNew && memcmp(text + count, ids, kNew * sizeof(*ids)) == 0);
  }
  CHECK(bantam_guess_repeat(NULL, 3, 4, run) == 0 && bantam_guess_count_next(NULL) == 0);
  return 0;
}

/* A search with one beam gives the same text; with several beams, none is better than the first. */
static int search(const bantam_model* model, bantam_session* session, const int32_t* prompt, uint32_t count,
                  const int32_t* likeliest) {
  bantam_beam_options options;
  bantam_beams beams;
  bantam_beam_text text;
  uint32_t i, width;
  for (width = 1; width <= kBeams; width += kBeams - 1) {
    int done = 0;
    size_t size;
    bantam_beam_options_init(&options);
    options.beams = width;
    options.max_new = kNew;
    size = bantam_beams_bytes(session, &options);
    CHECK(size != 0);
    CHECK(bantam_beams_begin(&beams, session, &options, prompt, count, 0, aligned(size), size) == BANTAM_OK);
    while (!done) CHECK(bantam_beams_step(&beams, &done) == BANTAM_OK);
    CHECK(bantam_beams_count(&beams) >= 1);
    for (i = 1; i < bantam_beams_count(&beams); ++i) {
      CHECK(bantam_beams_text(&beams, i).score <= bantam_beams_text(&beams, i - 1).score);
    }
    text = bantam_beams_text(&beams, 0);
    if (width == 1) CHECK(memcmp(text.ids, likeliest, text.count * sizeof(*likeliest)) == 0);
    CHECK(text.count == kNew || bantam_ends_text(model, text.ids[text.count - 1]));
  }
  CHECK(bantam_beams_text(&beams, 99).ids == NULL);
  options.beams = kBeams + 1; /* the session has fewer contexts */
  CHECK(bantam_beams_bytes(session, &options) == 0);
  options.beams = 2;
  options.early_stopping = 3;
  CHECK(bantam_beams_bytes(session, &options) == 0);
  return 0;
}

/* Generates the likeliest text after `prompt` that a constraint allows, of at most kNew tokens. Returns their number; 0 if
   there is no such text. */
static uint32_t constrained(const bantam_model* model, bantam_session* session, const int32_t* prompt, uint32_t count,
                            const bantam_constraint* constraint, int32_t* ids) {
  bantam_batch batch;
  bantam_next next;
  bantam_sampling sampling;
  uint32_t made;
  bantam_batch_init(&batch);
  bantam_sampling_init(&sampling);
  sampling.constraint = constraint;
  sampling.prompt = count;
  sampling.max_new = kNew;
  batch.last_rows = 1;
  batch.ids = prompt;
  batch.tokens = count;
  if (bantam_session_truncate(session, 0, 0) != BANTAM_OK) return 0;
  for (made = 0; made < kNew; ++made) {
    if (bantam_session_run_batch(session, &batch) != BANTAM_OK) return 0;
    if (bantam_next_token(session, 0, &sampling, &next) != BANTAM_OK) return 0;
    ids[made] = next.id;
    if (bantam_ends_text(model, next.id)) return made;
    batch.ids = ids + made;
    batch.tokens = 1;
  }
  return made;
}

static int check_constraints(const bantam_model* model, bantam_session* session, const int32_t* prompt,
                             uint32_t count) {
  const int32_t words[] = {70, 71, 70, 71, 72, 80};
  const uint32_t offsets[] = {0, 2, 5, 6};
  const bantam_json_field fields[] = {{{"a", 1}, 4}};
  uint32_t memory[3], made, found;
  int32_t ids[kNew];
  bantam_answers answers;
  bantam_json json;
  bantam_constraint constraint;
  bantam_json_options options;
  bantam_beam_options search_options;
  bantam_beams beams;
  size_t size;
  int done = 0;
  CHECK(bantam_answers_bytes(3) == sizeof(memory));
  CHECK(bantam_answers_open(&answers, model, words, offsets, 3, NULL, memory, sizeof(memory), &constraint) ==
        BANTAM_OK);
  made = constrained(model, session, prompt, count, &constraint, ids);
  CHECK(made != 0 && bantam_answers_find(&answers, ids, made) < 3);
  CHECK(bantam_answers_find(&answers, words, 1) == 3);
  bantam_beam_options_init(&search_options);
  search_options.beams = kBeams;
  search_options.max_new = kNew;
  search_options.constraint = &constraint;
  size = bantam_beams_bytes(session, &search_options);
  CHECK(size != 0);
  CHECK(bantam_beams_begin(&beams, session, &search_options, prompt, count, 0, aligned(size), size) == BANTAM_OK);
  while (!done) CHECK(bantam_beams_step(&beams, &done) == BANTAM_OK);
  for (found = 0; found < bantam_beams_count(&beams); ++found) {
    const bantam_beam_text text = bantam_beams_text(&beams, found);
    CHECK(bantam_answers_find(&answers, text.ids, text.count - 1) < 3);
  }
  CHECK(bantam_answers_open(&answers, model, words, offsets, 3, NULL, memory, 4, &constraint) ==
        BANTAM_BUFFER_TOO_SMALL);
  CHECK(bantam_answers_open(&answers, model, words, offsets, 0, NULL, memory, 4, &constraint) ==
        BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_json_open(&json, model, 0, NULL, NULL, prompt, count, &constraint) == BANTAM_OK);
  CHECK(constrained(model, session, prompt, count, &constraint, ids) != 0);
  bantam_json_options_init(&options);
  options.fields = fields;
  options.field_count = 1;
  /* {"a": true} has at most eleven tokens. */
  CHECK(bantam_json_open(&json, model, 0, &options, NULL, prompt, count, &constraint) == BANTAM_OK);
  CHECK(constrained(model, session, prompt, count, &constraint, ids) != 0);
  options.kind = 9;
  CHECK(bantam_json_open(&json, model, 0, &options, NULL, prompt, count, &constraint) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_json_open(&json, model, 7, NULL, NULL, prompt, count, &constraint) == BANTAM_NO_TOKENIZER);
  return 0;
}

static int check_decoder(const char* path) {
  const int32_t prompt[] = {5, 9, 70, 33, 41};
  int32_t once[kNew], pieces[kNew];
  bantam_model model;
  bantam_session* session;
  bantam_sampling sampling;
  bantam_batch batch;
  bantam_next next;
  uint32_t from[] = {1, 0};
  CHECK(open_model(path, &model) == 0 && create(&model, &session) == 0);
  CHECK(bantam_model_task(&model) == BANTAM_TASK_GENERATE);
  CHECK(greedy(session, prompt, 5, 0, once) == 0 && greedy(session, prompt, 5, 3, pieces) == 0);
  CHECK(memcmp(once, pieces, sizeof(once)) == 0);
  CHECK(guessed(session, prompt, 5, once) == 0);
  CHECK(bantam_session_copy_context(session, 0, 1) == BANTAM_OK);
  CHECK(bantam_session_truncate(session, 0, 2) == BANTAM_OK);
  CHECK(bantam_session_reorder_contexts(session, from, 2) == BANTAM_OK);
  CHECK(bantam_session_context_length(session, 1) == 2 && bantam_session_context_length(session, 0) == 5 + kNew - 1);
  CHECK(bantam_session_truncate(session, 1, 3) == BANTAM_INDEX_OUT_OF_RANGE);
  CHECK(search(&model, session, prompt, 5, once) == 0);
  CHECK(check_constraints(&model, session, prompt, 5) == 0);
  bantam_sampling_init(&sampling);
  sampling.top_p = 2;
  bantam_batch_init(&batch);
  batch.ids = prompt;
  batch.tokens = 5;
  CHECK(bantam_session_truncate(session, 0, 0) == BANTAM_OK);
  CHECK(bantam_session_run_batch(session, &batch) == BANTAM_OK);
  CHECK(bantam_next_token(session, 0, &sampling, &next) == BANTAM_INVALID_ARGUMENT);
  sampling.top_p = 1;
  sampling.forced = 7;
  CHECK(bantam_next_token(session, 0, &sampling, &next) == BANTAM_OK && next.id == 7);
  CHECK(bantam_session_encode_batch(session, &batch) == BANTAM_NO_SUCH_TASK);
  batch.size = 3; /* every version of the structure is longer */
  CHECK(bantam_session_run_batch(session, &batch) == BANTAM_INVALID_ARGUMENT);
  CHECK(bantam_session_run_batch(session, NULL) == BANTAM_INVALID_ARGUMENT);
  CHECK(!bantam_has_chat(&model) && bantam_language_count(&model) == 0);
  CHECK(bantam_render_chat(&model, NULL, 0, NULL, NULL) == BANTAM_INVALID_ARGUMENT);
  return 0;
}

static int check_pair(const char* path) {
  const int32_t source[] = {0, 20, 31, 12, 2};
  const bantam_text text = {"the cat", 7};
  int32_t start, ids[kNew];
  bantam_model model;
  bantam_session* session;
  bantam_generation way;
  bantam_batch batch;
  CHECK(open_model(path, &model) == 0 && create(&model, &session) == 0);
  CHECK(bantam_generation_count(&model) == 2);
  CHECK(bantam_generation_get(&model, 1, &way) == BANTAM_OK);
  CHECK(way.prefix.size == 5 && memcmp(way.prefix.data, "say: ", 5) == 0 && way.beams.beams == 2);
  CHECK(bantam_generation_get(&model, 2, &way) == BANTAM_INDEX_OUT_OF_RANGE);
  CHECK(bantam_generation_get(&model, 0, &way) == BANTAM_OK && way.start_id == 2 && way.beams.last_id == 2);
  start = way.start_id;
  bantam_batch_init(&batch);
  batch.ids = source;
  batch.tokens = 5;
  CHECK(bantam_session_source_length(session, 0) == 0);
  CHECK(bantam_session_encode_batch(session, &batch) == BANTAM_OK);
  CHECK(bantam_session_source_length(session, 0) == 5);
  CHECK(greedy(session, &start, 1, 0, ids) == 0 && search(&model, session, &start, 1, ids) == 0);
  bantam_session_clear(session);
  CHECK(bantam_session_add(session, text, (bantam_text){NULL, 0}, NULL) == BANTAM_OK);
  CHECK(bantam_session_encode(session) == BANTAM_OK);
  CHECK(bantam_session_source_length(session, 0) == bantam_session_sequence(session, 0).row_count);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return check_decoder(argv[1]) != 0 || check_pair(argv[2]) != 0;
}
