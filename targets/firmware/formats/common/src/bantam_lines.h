/* A model that answers lines, for C and C++: it reads the bytes of lines and writes one line of answer for each, in the
   format of bantam's docs/firmware.md. Programs that need more than lines use bantam/session.h (C++) or bantam/bantam.h
   (C) with bantam_model.h. */
#ifndef BANTAM_LINES_H_
#define BANTAM_LINES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives the answers. */
typedef void (*bantam_lines_write)(void* context, const char* data, size_t size);

/* Opens the model with a static arena. Returns 0; on failure returns 1 after passing a line with the reason to `write`. */
int bantam_lines_start(bantam_lines_write write, void* context);

/* Takes the next byte of a line. CR, LF and CR LF end the line; its answer is then written before this returns. */
void bantam_lines_put(uint8_t byte);

/* Call at the end of the input: answers a last line without a line end, and writes the peak use of the arena. */
void bantam_lines_finish(void);

/* Returns 1 if this compiler rounds every product and every sum, on which the bits of answers depend. bantam_lines_start
   calls it. */
int bantam_self_test(void);

#ifdef __cplusplus
}
#endif

#endif /* BANTAM_LINES_H_ */
