/* What devices ask of C: runs in steps, and files in flash that are checked before they are opened. The rules are those of bantam.h;
 * meanings those of bantam/steps.h and file.h. */
#ifndef BANTAM_BANTAM_DEVICE_H_
#define BANTAM_BANTAM_DEVICE_H_

#include "bantam/bantam.h"

BANTAM_EXPORT_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* C has no `using`. NOLINTBEGIN(modernize-use-using) */

/* ------------------------------------------------------------------------------------ runs in steps */

/* A run, which refers to its session. Every other call on the session that changes it ends the run. */
typedef struct bantam_stepped_run {
  uint64_t opaque[10];
} bantam_stepped_run;

/* Takes the texts that were added, as bantam_session_run does; nothing is computed yet. Other calls say BANTAM_INVALID_ARGUMENT of what
 * this has not begun. */
bantam_status bantam_stepped_run_begin(bantam_stepped_run* run, bantam_session* session);
/* The same of ids, as bantam_session_run_ids takes them. */
bantam_status bantam_stepped_run_begin_ids(bantam_stepped_run* run, bantam_session* session, const int32_t* ids,
                                           const int32_t* segments, const uint32_t* offsets, uint32_t sequences,
                                           uint32_t tokens);
/* Up to `operators` more, each on one tile of rows. *done: 1 where outputs are there. A failure is final. */
bantam_status bantam_stepped_run_advance(bantam_stepped_run* run, uint32_t operators, int* done);
/* How many are executed, of how many. */
uint32_t bantam_stepped_run_executed(const bantam_stepped_run* run);
uint32_t bantam_stepped_run_operators(const bantam_stepped_run* run);

/* ----------------------------------------------------------------------------------- files in flash */

/* Bytes of the file that begins at `bytes`, of which `room` can be read: from its header alone. */
bantam_status bantam_file_bytes(const void* bytes, size_t room, size_t* out);

/* A check that goes on in slices. */
typedef struct bantam_file_check {
  uint64_t opaque[8];
} bantam_file_check;

/* `size` as bantam_file_bytes says. */
bantam_status bantam_file_check_begin(bantam_file_check* check, const void* bytes, size_t size);
/* Goes on by up to `bytes`. *done: 1 where all have been read and the checksums hold; BANTAM_CORRUPT: one does not. */
bantam_status bantam_file_check_advance(bantam_file_check* check, size_t bytes, int* done);
size_t bantam_file_check_checked(const bantam_file_check* check);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
BANTAM_EXPORT_END

#endif /* BANTAM_BANTAM_DEVICE_H_ */
