// Status: how every function of the runtime reports failure. Values are append-only and identical in C (bantam.h) and
// C++.
#ifndef BANTAM_STATUS_H_
#define BANTAM_STATUS_H_

#include <stdint.h>

#include "bantam/export.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

enum class Status : int32_t {
  kOk = 0,
  kInvalidArgument = 1,  // a null pointer, a zero count, an option out of range
  kMisaligned = 2,       // arena not 64-byte aligned (firmware: 16) or file bytes not 16-byte aligned
  kArenaTooSmall = 3,    // fewer bytes than arena_bytes() states
  kNotAModel = 4,        // the bytes do not begin with bantam's magic
  kVersionTooNew = 5,    // written by a later major version
  kTruncated = 6,        // the bytes end before the size that the file states
  kCorrupt = 7,          // structure or meaning is inconsistent
  kUnsupported = 8,      // well formed, but requires something that this version does not execute
  kOpNotLinked = 9,      // this build left the operator out
  kTooManyTokens = 10,   // more tokens than the session or the model's positions allow
  kTooManySequences = 11,
  kIndexOutOfRange = 12,  // a token, segment or output index outside its table
  kNonFinite = 13,        // a NaN or infinity occurred in the activations
  kNoTokenizer = 14,      // the file has no tokenizer: pass ids
  kNoSuchTask = 15,       // the file has another task than the called function needs
  kTextTooLong = 16,      // more text than SessionOptions::text_bytes
  kBufferTooSmall = 17,   // the caller's result buffer is too small
  kNotRun = 18,           // outputs requested before a successful run
  kUnavailable = 19,      // the requested ISA or back end is not available on this machine
  kIo = 20,               // host only: reading or mapping a file failed
  kInternal = 21,
  kNoTokenAllowed = 22,  // the settings of a choice, together with its constraint, exclude every token
};

/// Returns one short English sentence in static storage, never null; "unknown status" for unknown values. Images built
/// without these sentences (linked.h) return a term of a few words.
const char* status_message(Status status);

/// Where a file is wrong. Model::open and Session::create fill it if the caller passes one. All strings have static
/// storage or point into the file's bytes.
struct Fault {
  const char* what = "";  // the rule that is violated
  const char* name = "";  // the tensor, operator or field; not zero-terminated, see name_size
  uint32_t name_size = 0;
  uint32_t index = 0;  // index of that tensor or operator
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_STATUS_H_
