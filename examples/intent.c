/* intent FILE TEXT: the same, from C and without bantam::host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bantam/bantam.h"

#if defined(_WIN32) /* where aligned_alloc() has another name */
#include <malloc.h>
#define aligned_alloc(alignment, size) _aligned_malloc(size, alignment)
#define free _aligned_free
#endif

static void check(bantam_status status, const char* what) {
  if (status == BANTAM_OK) return;
  fprintf(stderr, "%s: %s\n", what, bantam_status_message(status));
  exit(1);
}

static void* allocate(size_t size) { return aligned_alloc(64, (size + 63) / 64 * 64); }

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bantam_text text = {argv[2], strlen(argv[2])};
  const bantam_text none = {NULL, 0};

  FILE* file = fopen(argv[1], "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) return 1;
  const size_t size = (size_t)ftell(file);
  void* bytes = allocate(size);
  rewind(file);
  if (fread(bytes, 1, size, file) != size) return 1;
  fclose(file);

  bantam_model model;
  check(bantam_model_open(bytes, size, &model, NULL), argv[1]);
  bantam_session_options options;
  bantam_session_options_init(&options);
  const size_t arena_size = bantam_arena_bytes(&model, &options);
  void* arena = allocate(arena_size);
  bantam_session* session = NULL;
  check(bantam_session_create(&model, &options, arena, arena_size, &session, NULL), "session");

  check(bantam_session_add(session, text, none, NULL), "tokenize");
  check(bantam_session_run(session), "run");
  bantam_label_score intent;
  uint32_t count = 0, holds = 0;
  check(bantam_classify(session, 0, &intent, 1, &count, &holds), "classify");
  if (holds == 0) printf("out of scope: ");  // the score is under the file's limit
  const bantam_text label = bantam_model_label(&model, 0, intent.label);
  printf("%.*s %.3f\n", (int)label.size, label.data, (double)intent.score);
  free(arena);
  free(bytes);
  return 0;
}
