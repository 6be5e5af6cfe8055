#include "bantam/status.h"

#include "linked.h"

namespace bantam {

const char* status_message(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kInvalidArgument:
      return "an argument is null, zero or out of range";
    case Status::kMisaligned:
      return "memory is not aligned as required";
    case Status::kArenaTooSmall:
      return "the arena is smaller than arena_bytes() states";
    case Status::kNotAModel:
      return "not a bantam file";
    case Status::kVersionTooNew:
      return "the file was written by a newer version of bantam";
    case Status::kTruncated:
      return "the file is cut short";
    case Status::kCorrupt:
      return "the file is damaged or inconsistent";
    case Status::kUnsupported:
      return "the file asks for something that this version does not execute";
    case Status::kOpNotLinked:
      return "this build leaves out an operator that the file uses";
    case Status::kTooManyTokens:
      return "more tokens than the session or the model takes";
    case Status::kTooManySequences:
      return "more sequences than the session takes";
    case Status::kIndexOutOfRange:
      return "a token, segment or output index is out of range";
    case Status::kNonFinite:
      return "a NaN or an infinity turned up in the computation";
    case Status::kNoTokenizer:
      return "the file holds no tokenizer: feed token ids";
    case Status::kNoSuchTask:
      return "the file's task is not the one asked for";
    case Status::kTextTooLong:
      return "more text than the session takes";
    case Status::kBufferTooSmall:
      return "the result buffer is too small";
    case Status::kNotRun:
      return "no successful run yet";
    case Status::kUnavailable:
      return "not available in this build or on this machine";
    case Status::kIo:
      return "reading or mapping a file failed";
    case Status::kInternal:
      return "internal error";
    case Status::kNoTokenAllowed:
      break;
  }
  if (linked::kContexts && status == Status::kNoTokenAllowed) {
    return "no token may follow: settings leave out what the text may only be";
  }
  return "unknown status";
}

}  // namespace bantam
