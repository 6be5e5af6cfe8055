/* bantam for C: the same runtime and the same memory contract, for C99 and C++.
 *
 * A model is a small value that refers to bytes that the caller keeps; a session lies at the start of an arena that
 * the caller keeps. Nothing here allocates, and nothing is destroyed: free the arena when done. The *_init
 * functions, or the calls that return structures, fill them. Functions return a bantam_status; bantam/model.h,
 * session.h, tokenizer.h and tasks.h define the meanings, and this header mirrors their names.
 *
 * If a session or model is null or was never opened, functions return BANTAM_INVALID_ARGUMENT or, where they return
 * no status, 0, an empty text or -1. Option structures begin with their size at the caller's compile time, so that a
 * library that knows more or fewer options reads no more than the caller passed. */
#ifndef BANTAM_BANTAM_H_
#define BANTAM_BANTAM_H_

#include <stddef.h>
#include <stdint.h>

#include "bantam/export.h"

BANTAM_EXPORT_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* C has no `using`. NOLINTBEGIN(modernize-use-using) */

/* -------------------------------------------------------------------------------------------- status */

/* Append-only; identical to bantam::Status. */
typedef enum bantam_status {
  BANTAM_OK = 0,
  BANTAM_INVALID_ARGUMENT = 1,
  BANTAM_MISALIGNED = 2,
  BANTAM_ARENA_TOO_SMALL = 3,
  BANTAM_NOT_A_MODEL = 4,
  BANTAM_VERSION_TOO_NEW = 5,
  BANTAM_TRUNCATED = 6,
  BANTAM_CORRUPT = 7,
  BANTAM_UNSUPPORTED = 8,
  BANTAM_OP_NOT_LINKED = 9,
  BANTAM_TOO_MANY_TOKENS = 10,
  BANTAM_TOO_MANY_SEQUENCES = 11,
  BANTAM_INDEX_OUT_OF_RANGE = 12,
  BANTAM_NON_FINITE = 13,
  BANTAM_NO_TOKENIZER = 14,
  BANTAM_NO_SUCH_TASK = 15,
  BANTAM_TEXT_TOO_LONG = 16,
  BANTAM_BUFFER_TOO_SMALL = 17,
  BANTAM_NOT_RUN = 18,
  BANTAM_UNAVAILABLE = 19,
  BANTAM_IO = 20,
  BANTAM_INTERNAL = 21,
  BANTAM_NO_TOKEN_ALLOWED = 22,
  BANTAM_STATUS_IS_32_BITS = 0x7FFFFFFF
} bantam_status;

/* One short English sentence, static storage, never null. */
const char* bantam_status_message(bantam_status status);

/* Says where a file or an option is wrong: `what` is static; `name` is not zero-terminated and points into the file. */
typedef struct bantam_fault {
  const char* what;
  const char* name;
  uint32_t name_size;
  uint32_t index;
} bantam_fault;

/* Bytes that somebody else owns; not zero-terminated. */
typedef struct bantam_text {
  const char* data;
  size_t size;
} bantam_text;

/* --------------------------------------------------------------------------------------------- model */

/* A copyable value; shareable across threads. The file's bytes outlive it. */
typedef struct bantam_model {
  uint64_t opaque[16];
} bantam_model;

/* Identical to bantam::TaskKind. */
typedef enum bantam_task {
  BANTAM_TASK_NONE = 0,
  BANTAM_TASK_CLASSIFY = 1,
  BANTAM_TASK_MULTI_LABEL = 2,
  BANTAM_TASK_REGRESS = 3,
  BANTAM_TASK_CHOOSE = 4,
  BANTAM_TASK_TAG = 5,
  BANTAM_TASK_JOINT = 6,
  BANTAM_TASK_ANSWER = 7,
  BANTAM_TASK_EMBED = 8,
  BANTAM_TASK_FILL = 9,
  BANTAM_TASK_NEXT_SENTENCE = 10,
  BANTAM_TASK_PRETRAINING = 11,
  BANTAM_TASK_TOKEN_VECTORS = 12,
  BANTAM_TASK_GENERATE = 13,
  BANTAM_TASK_FIND = 14,
  BANTAM_TASK_SPARSE_EMBED = 15
} bantam_task;

typedef enum bantam_text_role {
  BANTAM_TEXT_PLAIN = 0,
  BANTAM_TEXT_QUERY = 1,
  BANTAM_TEXT_DOCUMENT = 2
} bantam_text_role;

/* Verifies `bytes` (16-byte aligned; 64 for full speed) and fills `out`. `fault` may be null. */
bantam_status bantam_model_open(const void* bytes, size_t size, bantam_model* out, bantam_fault* fault);
bantam_task bantam_model_task(const bantam_model* model);
bantam_text bantam_model_name(const bantam_model* model);
bantam_text bantam_model_tool(const bantam_model* model);
bantam_text bantam_model_licence(const bantam_model* model);
/* The prompt that the file requires before every text that it embeds; bantam_session_add does not add it. Most files
 * have an empty one. */
bantam_text bantam_model_prompt(const bantam_model* model);
/* The same for queries and for documents, whose embeddings are compared. In most files it equals
 * bantam_model_prompt. */
bantam_text bantam_model_role_prompt(const bantam_model* model, bantam_text_role role);
/* The value of the file's property `key`; empty if the file has none. */
bantam_text bantam_model_property(const bantam_model* model, bantam_text key);
/* The most tokens, specials included, of one sequence; 0: no limit. */
uint32_t bantam_model_max_sequence(const bantam_model* model);
/* The number of tokens, specials included, to which texts are truncated: bantam_model_max_sequence, or the
 * tokenizer's limit if that is smaller. 0: no limit. */
uint32_t bantam_model_max_tokens(const bantam_model* model);
/* Legal token ids are [0, vocabulary), segment ids [0, segment_types), marks [0, mark_types). */
uint32_t bantam_model_vocabulary(const bantam_model* model);
uint32_t bantam_model_segment_types(const bantam_model* model);
uint32_t bantam_model_feature_width(const bantam_model* model); /* 0: the model takes no features */
uint32_t bantam_model_mark_types(const bantam_model* model);    /* 1: the model takes no marks */
/* The name of the entity that a mark stands for, in models with a table of entities; empty if the file does not
 * contain it. */
bantam_text bantam_model_mark_name(const bantam_model* model, uint32_t mark);
int bantam_model_has_tokenizer(const bantam_model* model);
uint32_t bantam_model_output_count(const bantam_model* model);
bantam_text bantam_model_output_name(const bantam_model* model, uint32_t output);
uint32_t bantam_model_label_set_count(const bantam_model* model);
uint32_t bantam_model_label_count(const bantam_model* model, uint32_t set);
bantam_text bantam_model_label(const bantam_model* model, uint32_t set, uint32_t index);
/* The subject of a further label set; empty for the task's own sets. */
bantam_text bantam_model_label_set_name(const bantam_model* model, uint32_t set);
/* The parent of a label in its set; -1: it has none. */
int32_t bantam_model_label_above(const bantam_model* model, uint32_t set, uint32_t index);

/* ------------------------------------------------------------------------------------------- session */

typedef struct bantam_session bantam_session;

/* run() returns after task(arg, i, worker) has finished for every i in [0, count). */
typedef struct bantam_parallel {
  void* context;
  void (*run)(void* context, uint32_t count, void (*task)(void* arg, uint32_t index, uint32_t worker), void* arg);
} bantam_parallel;

typedef struct bantam_session_options {
  size_t size;                     /* sizeof(bantam_session_options): bantam_session_options_init writes it */
  uint32_t max_tokens;             /* rows of one run; 0: the longest sequence times max_sequences */
  uint32_t max_sequences;          /* default: 1 */
  uint32_t workers;                /* default: 1; worker ids that `parallel` may use */
  uint32_t tile_rows;              /* 0: chosen automatically */
  uint8_t isa;                     /* 0: the best; else a value of bantam::Isa */
  uint8_t f32_attention;           /* 0; else attention of int8 files in f32, for comparison */
  const bantam_parallel* parallel; /* null: serial; outlives the session */
  uint32_t block_rows;             /* 0: 16; fewer for small devices, see session.h */
  uint32_t max_context;            /* 0: no contexts; else tokens of each, see bantam_generate.h */
  uint32_t max_source;             /* encoder-decoders: tokens of a source; 0: the longest */
  uint32_t max_sources;            /* encoder-decoders: how many are kept; 0: max_sequences */
  /* models that fill in masks: tokens of a run to compute word scores for; 0: all. See session.h */
  uint32_t scored_rows;
} bantam_session_options;

/* Writes defaults to the first `size` bytes of the structure; `size` is the structure's size at the caller's compile
 * time. */
void bantam_session_options_init_sized(bantam_session_options* options, size_t size);
static inline void bantam_session_options_init(bantam_session_options* options) {
  bantam_session_options_init_sized(options, sizeof(bantam_session_options));
}
/* Exact size of the arena in bytes; 0: the options are invalid. */
size_t bantam_arena_bytes(const bantam_model* model, const bantam_session_options* options);
/* `arena` is 64-byte aligned and outlives the session. */
bantam_status bantam_session_create(const bantam_model* model, const bantam_session_options* options, void* arena,
                                    size_t size, bantam_session** out, bantam_fault* fault);

/* Runs sequences one after the other, without padding. offsets: sequences + 1 row offsets; null: one sequence. */
bantam_status bantam_session_run_ids(bantam_session* session, const int32_t* ids, const int32_t* segments,
                                     const uint32_t* offsets, uint32_t sequences, uint32_t tokens);
/* Does the same with a mark for each token. */
bantam_status bantam_session_run_marked_ids(bantam_session* session, const int32_t* ids, const int32_t* segments,
                                            const int32_t* marks, const uint32_t* offsets, uint32_t sequences,
                                            uint32_t tokens);

/* For models that take rows of features instead of ids: [tokens][bantam_model_feature_width()]. The array must stay
 * valid until the run returns. */
bantam_status bantam_session_run_features(bantam_session* session, const float* features, const uint32_t* offsets,
                                          uint32_t sequences, uint32_t tokens);

/* The form of images that a model takes, and the shape of the features of one image; see bantam/image.h. */
typedef struct bantam_image_form {
  uint32_t width;
  uint32_t height;
  uint32_t channels;
  uint32_t tokens;
  uint32_t columns;
} bantam_image_form;
bantam_status bantam_model_image_form(const bantam_model* model, bantam_image_form* out);
bantam_status bantam_image_features(const bantam_model* model, const uint8_t* pixels, size_t stride, float* features);

typedef struct bantam_encode_options {
  size_t size;         /* sizeof(bantam_encode_options): bantam_encode_options_init writes it */
  uint32_t max_tokens; /* specials included; 0: the file's limit */
  uint32_t skip;       /* content tokens to skip: sliding windows */
  uint8_t add_special; /* default: 1 */
  uint8_t truncation;  /* 0: as the file says; else a value of bantam::TruncationSide */
} bantam_encode_options;

void bantam_encode_options_init_sized(bantam_encode_options* options, size_t size);
static inline void bantam_encode_options_init(bantam_encode_options* options) {
  bantam_encode_options_init_sized(options, sizeof(bantam_encode_options));
}

/* Text batch: clear, add each input (second.data null: no pair; options null: defaults), run. */
void bantam_session_clear(bantam_session* session);
bantam_status bantam_session_add(bantam_session* session, bantam_text first, bantam_text second,
                                 const bantam_encode_options* options);
/* For models of BANTAM_TASK_FIND: adds a text and the labels of the spans to find in it. */
bantam_status bantam_session_add_labelled(bantam_session* session, bantam_text text, const bantam_text* labels,
                                          uint32_t count, const bantam_encode_options* options);

/* Half-open byte range of the original text; [0, 0) for special tokens. */
typedef struct bantam_offset {
  uint32_t begin;
  uint32_t end;
} bantam_offset;

/* For models with a table of entities: marks the first token that overlaps `bytes` of the sequence's first text, or
 * of its second if `second` is not 0. `found` may be null; see bantam/session.h. */
bantam_status bantam_session_mark(bantam_session* session, uint32_t sequence, int second, bantam_offset bytes,
                                  int32_t mark, int* found);
bantam_status bantam_session_run(bantam_session* session);
/* Does the same, but computes word scores only for `count` rows of the batch, in ascending order; needs scored_rows. */
bantam_status bantam_session_run_rows(bantam_session* session, const uint32_t* rows, uint32_t count);
/* Does the same for the mask tokens of the batch, for bantam_fill; without scored_rows it equals bantam_session_run.
 * BANTAM_TOO_MANY_TOKENS: more masks than scored_rows. */
bantam_status bantam_session_run_masks(bantam_session* session);
/* Does all of that in one call, for bindings and columns of texts: text i is bytes[offsets[i], offsets[i + 1]), and
 * each input is one text or, with `pairs`, two. Adds and runs as many of the `inputs` as there is room for and
 * writes their number to *taken; 0 if the first one cannot be added or the run fails. options null: defaults. With
 * scored_rows it calls bantam_session_run_masks. */
bantam_status bantam_session_run_texts(bantam_session* session, const char* bytes, const uint64_t* offsets,
                                       uint32_t inputs, int pairs, const bantam_encode_options* options,
                                       uint32_t* taken);

typedef struct bantam_encode_result {
  uint32_t count;      /* tokens written */
  uint32_t truncated;  /* 1: some content tokens did not fit */
  uint32_t content[2]; /* content tokens of each text before truncation */
  uint32_t kept[2];    /* content tokens of each text that were written */
} bantam_encode_result;

/* One sequence of the batch; valid until the next call on this session. */
typedef struct bantam_sequence {
  uint32_t row_begin;
  uint32_t row_count;
  const int32_t* ids;
  const int32_t* segments;
  const bantam_offset* offsets; /* null after run_ids */
  const uint8_t* sequences;     /* 0, 1: text of the token; 255: special; null after run_ids */
  bantam_encode_result result;
} bantam_sequence;

uint32_t bantam_session_sequence_count(const bantam_session* session);
bantam_sequence bantam_session_sequence(const bantam_session* session, uint32_t index);
/* The marks of that sequence; null: the model takes none. */
const int32_t* bantam_session_marks(const bantam_session* session, uint32_t index);

/* rows x width floats, `stride` floats from row to row; valid until the next call on this session. */
typedef struct bantam_output {
  bantam_text name;
  const float* data;
  uint32_t rows;
  uint32_t width;
  size_t stride;
  uint8_t per_token; /* 1: one row per token; 0: one row per sequence */
  uint8_t squeeze;   /* 1: transformers drops the last dimension, which is 1 */
} bantam_output;

#define BANTAM_ALL_SEQUENCES 0xFFFFFFFFu
/* Returns the rows of one sequence or, with BANTAM_ALL_SEQUENCES, of all. */
bantam_status bantam_session_output(const bantam_session* session, uint32_t output, uint32_t sequence,
                                    bantam_output* out);
size_t bantam_session_arena_high_water(const bantam_session* session);

/* ----------------------------------------------------------------------------------------- tokenizer */

/* Caller's arrays of `capacity` elements; all but ids may be null. */
typedef struct bantam_token_buffer {
  int32_t* ids;
  int32_t* segments;
  bantam_offset* offsets;
  uint8_t* sequences;
  uint32_t capacity;
} bantam_token_buffer;

/* Encodes without a session. */
bantam_status bantam_encode(const bantam_model* model, bantam_text first, bantam_text second,
                            const bantam_encode_options* options, const bantam_token_buffer* out,
                            bantam_encode_result* result);
/* The token's text; empty when out of range or without a tokenizer. */
bantam_text bantam_token(const bantam_model* model, uint32_t id);
/* Writes the text of ids[0, count) to out[0, capacity), not zero-terminated; leaves out special tokens if
 * skip_special is not 0. *size is the length of the whole text; BANTAM_BUFFER_TOO_SMALL: it exceeds capacity.
 * bantam/decode.h decodes token by token. */
bantam_status bantam_decode(const bantam_model* model, const int32_t* ids, size_t count, int skip_special, char* out,
                            size_t capacity, size_t* size);
/* Id of exactly this token; -1: none. */
int32_t bantam_token_id(const bantam_model* model, bantam_text token);
/* The token as it appears in a text: without the prefix of a continuation. */
bantam_text bantam_token_piece(const bantam_model* model, uint32_t id);
/* The id of the mask token that bantam_fill fills in; -1: none. */
int32_t bantam_mask_id(const bantam_model* model);

/* --------------------------------------------------------------------------------------------- tasks */

typedef struct bantam_label_score {
  uint32_t label;
  float score;
} bantam_label_score;

/* Best `capacity` labels, best first. `above` may be null. */
bantam_status bantam_classify(const bantam_session* session, uint32_t sequence, bantam_label_score* out,
                              uint32_t capacity, uint32_t* count, uint32_t* above);
/* The number of label sets that the task itself reads; sets with this index and above are further ones. */
uint32_t bantam_task_label_sets(const bantam_model* model);
/* Does the same for a further label set of texts. */
bantam_status bantam_classify_set(const bantam_session* session, uint32_t sequence, uint32_t set,
                                  bantam_label_score* out, uint32_t capacity, uint32_t* count, uint32_t* above);
/* The logits of those scores, one per label of the set: `*out` points into the session's output. */
bantam_status bantam_label_logits(const bantam_session* session, uint32_t sequence, uint32_t set, const float** out,
                                  uint32_t* width);
/* Softmax over sequences [first, first + choices). */
bantam_status bantam_choose(const bantam_session* session, uint32_t first, uint32_t choices, bantam_label_score* out,
                            uint32_t capacity, uint32_t* count);

typedef struct bantam_entity {
  uint32_t label;
  bantam_text name; /* without its prefix; points into the file */
  bantam_offset span;
  float score;
} bantam_entity;

/* Writes the entities of a tag file or the slots of a joint one. `text` is the text that was added. */
bantam_status bantam_tag(const bantam_session* session, uint32_t sequence, bantam_text text, bantam_entity* out,
                         uint32_t capacity, uint32_t* count);
/* Does the same for a further label set of words. */
bantam_status bantam_tag_set(const bantam_session* session, uint32_t sequence, uint32_t set, bantam_text text,
                             bantam_entity* out, uint32_t capacity, uint32_t* count);

/* How token labels become entities; bantam/tasks.h defines each value. */
typedef enum bantam_aggregation {
  BANTAM_AGGREGATION_WORDS = 0,
  BANTAM_AGGREGATION_NONE = 1,
  BANTAM_AGGREGATION_SIMPLE = 2,
  BANTAM_AGGREGATION_FIRST = 3,
  BANTAM_AGGREGATION_AVERAGE = 4,
  BANTAM_AGGREGATION_MAX = 5,
  BANTAM_AGGREGATION_FILE = 255 /* the file's own aggregation */
} bantam_aggregation;

/* Does the same as bantam_tag_set with the given aggregation. `set` 0xFFFFFFFF: the one that the task reads. */
bantam_status bantam_tag_as(const bantam_session* session, uint32_t sequence, uint32_t set,
                            bantam_aggregation aggregation, bantam_text text, bantam_entity* out, uint32_t capacity,
                            uint32_t* count);

typedef struct bantam_find_options {
  size_t size;     /* sizeof(bantam_find_options): bantam_find_options_init writes it */
  float threshold; /* a span is found if its probability is above this; 0: the file's threshold */
  uint8_t nested;  /* 0; else spans may lie inside others */
  uint8_t several; /* 0; else a span may have several labels */
} bantam_find_options;

void bantam_find_options_init_sized(bantam_find_options* options, size_t size);
static inline void bantam_find_options_init(bantam_find_options* options) {
  bantam_find_options_init_sized(options, sizeof(bantam_find_options));
}
/* Finds spans in a text that bantam_session_add_labelled added; `label` is the number of the label, `name` is empty.
 * options null: defaults. */
bantam_status bantam_find(const bantam_session* session, uint32_t sequence, const bantam_find_options* options,
                          bantam_entity* out, uint32_t capacity, uint32_t* count);

typedef struct bantam_answer {
  bantam_offset span;
  float score;
  float logit;
  float no_answer;
  float mass;
  uint32_t answerable;
} bantam_answer;

bantam_status bantam_find_answer(const bantam_session* session, uint32_t sequence, bantam_answer* out);

/* `*out` points into the session's output. */
bantam_status bantam_embed(const bantam_session* session, uint32_t sequence, const float** out, uint32_t* width);
/* The embeddings of a sequence's tokens, one row per token. */
bantam_status bantam_embed_tokens(const bantam_session* session, uint32_t sequence, bantam_output* out);

typedef struct bantam_candidate {
  int32_t id;
  float score;
} bantam_candidate;

/* Sparse embeddings: writes at most `capacity` terms whose weight is not 0, greatest weight first (ties: smaller id
 * first). */
bantam_status bantam_terms(const bantam_session* session, uint32_t sequence, bantam_candidate* out, uint32_t capacity,
                           uint32_t* count);
/* Writes the best tokens for the mask-th [MASK]. */
bantam_status bantam_fill(const bantam_session* session, uint32_t sequence, uint32_t mask, bantam_candidate* out,
                          uint32_t capacity, uint32_t* count);
/* Writes the best tokens to follow the sequence's last one. */
bantam_status bantam_next_words(const bantam_session* session, uint32_t sequence, bantam_candidate* out,
                                uint32_t capacity, uint32_t* count);
bantam_status bantam_next_sentence(const bantam_session* session, uint32_t sequence, float* probability);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
BANTAM_EXPORT_END

#endif /* BANTAM_BANTAM_H_ */
