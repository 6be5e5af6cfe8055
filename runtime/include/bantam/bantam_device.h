/* Functions for devices: runs in steps, and checks of files in flash before they are opened. The rules of bantam.h
 * apply; bantam/steps.h and file.h define the meanings. */
#ifndef BANTAM_BANTAM_DEVICE_H_
#define BANTAM_BANTAM_DEVICE_H_

#include "bantam/bantam.h"

BANTAM_EXPORT_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* C has no `using`. NOLINTBEGIN(modernize-use-using) */

/* ------------------------------------------------------------------------------------ runs in steps */

/* A run that refers to its session. Every other call that changes the session ends the run. */
typedef struct bantam_stepped_run {
  uint64_t opaque[10];
} bantam_stepped_run;

/* Takes the texts that were added, as bantam_session_run does, but computes nothing yet. The other calls return
 * BANTAM_INVALID_ARGUMENT for a run that was not begun. */
bantam_status bantam_stepped_run_begin(bantam_stepped_run* run, bantam_session* session);
/* Does the same with ids, as bantam_session_run_ids takes them. */
bantam_status bantam_stepped_run_begin_ids(bantam_stepped_run* run, bantam_session* session, const int32_t* ids,
                                           const int32_t* segments, const uint32_t* offsets, uint32_t sequences,
                                           uint32_t tokens);
/* Executes up to `operators` more operators, each on one tile of rows. *done: 1 if all have run and outputs are
 * available. A failure is final. */
bantam_status bantam_stepped_run_advance(bantam_stepped_run* run, uint32_t operators, int* done);
/* The number of operators executed so far, and the number of the whole run. */
uint32_t bantam_stepped_run_executed(const bantam_stepped_run* run);
uint32_t bantam_stepped_run_operators(const bantam_stepped_run* run);

/* ----------------------------------------------------------------------------------- files in flash */

/* Reads the size of the file that begins at `bytes` from its header alone; `room` bytes can be read. */
bantam_status bantam_file_bytes(const void* bytes, size_t room, size_t* out);

/* A check of a file that proceeds in slices. */
typedef struct bantam_file_check {
  uint64_t opaque[8];
} bantam_file_check;

/* `size` is the result of bantam_file_bytes. */
bantam_status bantam_file_check_begin(bantam_file_check* check, const void* bytes, size_t size);
/* Checks up to `bytes` more. *done: 1 if the whole file was read and its checksums match; BANTAM_CORRUPT: one does
 * not match. */
bantam_status bantam_file_check_advance(bantam_file_check* check, size_t bytes, int* done);
size_t bantam_file_check_checked(const bantam_file_check* check);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
BANTAM_EXPORT_END

#endif /* BANTAM_BANTAM_DEVICE_H_ */
