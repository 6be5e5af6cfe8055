/* Text generation from C: contexts and sources of sessions, the next token, beam search, conversations. The rules of
 * bantam.h apply; bantam/session.h, constraint.h, sampling.h, beams.h, generation.h and chat.h define the meanings. */
#ifndef BANTAM_BANTAM_GENERATE_H_
#define BANTAM_BANTAM_GENERATE_H_

#include "bantam/bantam.h"

BANTAM_EXPORT_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* C has no `using`. NOLINTBEGIN(modernize-use-using) */

/* ----------------------------------------------------------------------------- contexts and sources */

/* Sequences one after the other; each continues its context. If an array is null: offsets and segments as in
 * bantam_session_run_ids; contexts: the first ones; sources: the first ones. */
typedef struct bantam_batch {
  size_t size; /* sizeof(bantam_batch): bantam_batch_init writes it */
  const int32_t* ids;
  const int32_t* segments;
  const uint32_t* offsets;  /* sequences + 1 elements */
  const uint32_t* contexts; /* ascending */
  const uint32_t* sources;
  uint32_t sequences; /* default: 1 */
  uint32_t tokens;
  uint8_t last_rows; /* 0; else per-token outputs have one row per sequence, that of its last token */
} bantam_batch;

void bantam_batch_init_sized(bantam_batch* batch, size_t size);
static inline void bantam_batch_init(bantam_batch* batch) { bantam_batch_init_sized(batch, sizeof(bantam_batch)); }

bantam_status bantam_session_run_batch(bantam_session* session, const bantam_batch* batch);
/* Encoder-decoders: runs the encoder over sources, given as ids or as the texts that were added. */
bantam_status bantam_session_encode_batch(bantam_session* session, const bantam_batch* batch);
bantam_status bantam_session_encode(bantam_session* session);
uint32_t bantam_session_source_length(const bantam_session* session, uint32_t source);

uint32_t bantam_session_context_length(const bantam_session* session, uint32_t context);
const int32_t* bantam_session_context_ids(const bantam_session* session, uint32_t context);
bantam_status bantam_session_truncate(bantam_session* session, uint32_t context, uint32_t length);
bantam_status bantam_session_copy_context(bantam_session* session, uint32_t from, uint32_t to);
bantam_status bantam_session_reorder_contexts(bantam_session* session, const uint32_t* from, uint32_t count);

/* -------------------------------------------------------------------------- what texts may become */

/* A constraint refers to the object that created it: it is valid only as long as that object, and neither may be
 * copied. */
typedef struct bantam_constraint {
  uint64_t opaque[4];
} bantam_constraint;

/* Tokens that end a text where a constraint allows an end; null: those that the file names. */
typedef struct bantam_end_tokens {
  const int32_t* ids;
  uint32_t count;
} bantam_end_tokens;

typedef struct bantam_answers {
  uint64_t opaque[12];
} bantam_answers;

/* Bytes of memory for `count` answers. */
size_t bantam_answers_bytes(uint32_t count);
/* Allows one of a list of answers: answer i is ids[offsets[i], offsets[i + 1]). `memory` is 4-byte aligned; all
 * pointers must outlive *answers. */
bantam_status bantam_answers_open(bantam_answers* answers, const bantam_model* model, const int32_t* ids,
                                  const uint32_t* offsets, uint32_t count, const bantam_end_tokens* ends, void* memory,
                                  size_t size, bantam_constraint* out);
/* Returns the index of the first answer with exactly these tokens; the number of answers if there is none. */
uint32_t bantam_answers_find(const bantam_answers* answers, const int32_t* ids, uint32_t count);

/* `kind` is a value of bantam::JsonKind: 0 any, 1 a string, 2 a number, 3 an integer, 4 a boolean, 5 null, 6 an array,
 * 7 an object. */
typedef struct bantam_json_field {
  bantam_text name;
  uint8_t kind;
} bantam_json_field;

typedef struct bantam_json_options {
  size_t size; /* sizeof(bantam_json_options): bantam_json_options_init writes it */
  const bantam_json_field* fields;
  uint32_t field_count;
  uint32_t depth; /* default: 32 */
  uint8_t kind;   /* default: 0 */
} bantam_json_options;

void bantam_json_options_init_sized(bantam_json_options* options, size_t size);
static inline void bantam_json_options_init(bantam_json_options* options) {
  bantam_json_options_init_sized(options, sizeof(bantam_json_options));
}

typedef struct bantam_json {
  uint64_t opaque[48];
} bantam_json;

/* Allows JSON after prompt[0, count). Null options: any value. What the options point to, and the file, must outlive
 * *json. */
bantam_status bantam_json_open(bantam_json* json, const bantam_model* model, uint32_t tokenizer,
                               const bantam_json_options* options, const bantam_end_tokens* ends, const int32_t* prompt,
                               uint32_t count, bantam_constraint* out);

/* ------------------------------------------------------------------------------------ the next token */

typedef struct bantam_sampling {
  size_t size;              /* sizeof(bantam_sampling): bantam_sampling_init writes it */
  float temperature;        /* 0: the likeliest token */
  uint32_t top_k;           /* 0: all */
  float top_p;              /* default: 1 */
  float min_p;              /* default: 0 */
  float repetition_penalty; /* default: 1 */
  uint32_t no_repeat_ngram; /* default: 0 */
  uint64_t seed;
  const int32_t* banned; /* tokens that are not chosen */
  uint32_t banned_count;
  int32_t forced;                      /* -1: any */
  uint8_t log_probability;             /* 0; else bantam_next_token returns it */
  const bantam_constraint* constraint; /* null: no restriction */
  uint32_t prompt;                     /* with a constraint: tokens before the text */
  uint32_t max_new;                    /* with a constraint: most tokens of the text; 0: any number */
  uint32_t source_no_repeat_ngram;     /* default: 0 */
  const int32_t* source_ids;           /* encoder-decoder: its source; decoder: its prompt */
  uint32_t source_count;
} bantam_sampling;

void bantam_sampling_init_sized(bantam_sampling* sampling, size_t size);
static inline void bantam_sampling_init(bantam_sampling* sampling) {
  bantam_sampling_init_sized(sampling, sizeof(bantam_sampling));
}

typedef struct bantam_next {
  int32_t id;
  float log_probability;
} bantam_next;

/* Chooses the token after the last one of `sequence` of the last run. Modifies the run's scores: call it once per
 * run. */
bantam_status bantam_next_token(bantam_session* session, uint32_t sequence, const bantam_sampling* sampling,
                                bantam_next* out);
/* The same for the token after row `row` of the sequence's rows of that run, which must have scores of all rows: for
 * tokens that were guessed. Call it once per row. */
bantam_status bantam_next_token_of_row(bantam_session* session, uint32_t sequence, uint32_t row,
                                       const bantam_sampling* sampling, bantam_next* out);

/* Guesses of tokens, so that one run chooses several: bantam/guesses.h has the rules and the loop. */
enum { BANTAM_MOST_GUESSES = 16 };
/* Guesses what follows ids[0, count), which may repeat itself. Writes up to `most` ids to `out`, at most
 * BANTAM_MOST_GUESSES, and returns their number. */
uint32_t bantam_guess_repeat(const int32_t* ids, uint32_t count, uint32_t most, int32_t* out);
/* Decides how many tokens to guess. Ask for the number before each run, and state the result of each run behind it. */
typedef struct bantam_guess_count {
  uint32_t opaque[4];
} bantam_guess_count;
void bantam_guess_count_init(bantam_guess_count* guesses, uint32_t most); /* at most `most` guesses a run */
uint32_t bantam_guess_count_next(bantam_guess_count* guesses);
void bantam_guess_count_took(bantam_guess_count* guesses, uint32_t guessed, uint32_t kept);

/* Returns 1 if this token ends a text, by the file's settings. */
int bantam_ends_text(const bantam_model* model, int32_t id);

/* --------------------------------------------------------------------------------------------- beams */

typedef struct bantam_beam_options {
  size_t size;    /* sizeof(bantam_beam_options): bantam_beam_options_init writes it */
  uint32_t beams; /* default: 4 */
  uint32_t max_new;
  uint32_t min_new;
  float length_penalty;     /* default: 1 */
  uint32_t early_stopping;  /* a value of bantam::EarlyStopping: 0 no, 1 yes, 2 never */
  float repetition_penalty; /* default: 1 */
  uint32_t no_repeat_ngram;
  uint32_t banned_count;
  const int32_t* banned;               /* outlives the search */
  int32_t first_id;                    /* -1: any */
  int32_t last_id;                     /* -1: any */
  const bantam_constraint* constraint; /* outlives the search; null: no restriction */
  uint32_t begin_banned;               /* the last begin_banned ids of `banned` are banned only as the first token */
  uint32_t source_no_repeat_ngram;
  const int32_t* source_ids; /* outlives the search */
  uint32_t source_count;
} bantam_beam_options;

void bantam_beam_options_init_sized(bantam_beam_options* options, size_t size);
static inline void bantam_beam_options_init(bantam_beam_options* options) {
  bantam_beam_options_init_sized(options, sizeof(bantam_beam_options));
}

/* A search; do not copy it while it runs. */
typedef struct bantam_beams {
  uint64_t opaque[32];
} bantam_beams;

/* A finished text: `ids` points into the memory of the search. */
typedef struct bantam_beam_text {
  const int32_t* ids;
  uint32_t count;
  float score;
} bantam_beam_text;

/* Bytes of memory for a search; 0: the session or the options do not allow one. */
size_t bantam_beams_bytes(const bantam_session* session, const bantam_beam_options* options);
/* Begins after `prompt`; an encoder-decoder attends to `source`, which must have been encoded. `memory` is 8-byte
 * aligned. */
bantam_status bantam_beams_begin(bantam_beams* beams, bantam_session* session, const bantam_beam_options* options,
                                 const int32_t* prompt, uint32_t count, uint32_t source, void* memory, size_t size);
/* Adds a token to every beam; *done: 1 if the search has ended. */
bantam_status bantam_beams_step(bantam_beams* beams, int* done);
uint32_t bantam_beams_count(const bantam_beams* beams);
bantam_beam_text bantam_beams_text(const bantam_beams* beams, uint32_t rank);

/* --------------------------------------------------------------------------------- what a file says */

/* Generation settings; texts and `beams.banned` point into the file. */
typedef struct bantam_generation {
  bantam_text name;
  bantam_text prefix;
  bantam_beam_options beams;
  int32_t start_id; /* -1: a decoder */
} bantam_generation;

uint32_t bantam_generation_count(const bantam_model* model);
bantam_status bantam_generation_get(const bantam_model* model, uint32_t index, bantam_generation* out);
/* Returns a value of bantam::LanguagePlace: 0 nowhere, 1 the first new token, 2 the token that texts begin with,
 * 3 in the source. */
uint32_t bantam_language_place(const bantam_model* model);
uint32_t bantam_language_count(const bantam_model* model);
bantam_status bantam_language_get(const bantam_model* model, uint32_t index, bantam_text* code, int32_t* token);

/* ------------------------------------------------------------------------------------- conversations */

typedef struct bantam_chat_message {
  uint8_t role; /* 0 the system, 1 the user, 2 the assistant */
  const char* text;
  size_t size;
} bantam_chat_message;

int bantam_has_chat(const bantam_model* model);
/* Writes the conversation up to the point where the answer begins, piece by piece; encode it without special tokens
 * (add_special 0). */
bantam_status bantam_render_chat(const bantam_model* model, const bantam_chat_message* messages, uint32_t count,
                                 void (*write)(void* target, const char* bytes, size_t size), void* target);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
BANTAM_EXPORT_END

#endif /* BANTAM_BANTAM_GENERATE_H_ */
