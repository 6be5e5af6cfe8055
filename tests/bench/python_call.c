/* The reference for python_call.py: makes the same call from C, `count` times. Returns nanoseconds, or -1 if a call fails. */
#include <time.h>

#include "bantam/bantam.h"

long long python_call_c(bantam_session* session, const char* text, size_t size, uint32_t count);

long long python_call_c(bantam_session* session, const char* text, size_t size, uint32_t count) {
  const bantam_text first = {text, size}, none = {NULL, 0};
  struct timespec begin, end;
  uint32_t i, found, above;
  bantam_label_score best;
  timespec_get(&begin, TIME_UTC);
  for (i = 0; i < count; ++i) {
    bantam_session_clear(session);
    if (bantam_session_add(session, first, none, NULL) != BANTAM_OK || bantam_session_run(session) != BANTAM_OK ||
        bantam_classify(session, 0, &best, 1, &found, &above) != BANTAM_OK) {
      return -1;
    }
  }
  timespec_get(&end, TIME_UTC);
  return (end.tv_sec - begin.tv_sec) * 1000000000LL + (end.tv_nsec - begin.tv_nsec);
}
