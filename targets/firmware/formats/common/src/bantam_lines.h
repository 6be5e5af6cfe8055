/* A model that answers lines, for C and C++: bytes of lines in, one line of answer out for each, as docs/firmware.md of bantam says.
   Programs that want more than lines use bantam/session.h (C++) or bantam/bantam.h (C) with bantam_model.h. */
#ifndef BANTAM_LINES_H_
#define BANTAM_LINES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where answers go. */
typedef void (*bantam_lines_write)(void* context, const char* data, size_t size);

/* Opens the model in an arena of its own. 0; or 1, and `write` has got a line that says why. */
int bantam_lines_start(bantam_lines_write write, void* context);

/* The next byte of a line. CR, LF and CR LF end it; then its answer is written before this returns. */
void bantam_lines_put(uint8_t byte);

/* The input has ended: answers a last line without an end, and writes what the arena had at most. */
void bantam_lines_finish(void);

/* 1 where this compiler rounds every product and every sum, which the answers' bits depend on. bantam_lines_start asks it. */
int bantam_self_test(void);

#ifdef __cplusplus
}
#endif

#endif /* BANTAM_LINES_H_ */
