#include "bantam/status.h"

#include <string.h>

#include "linked.h"

namespace bantam {
namespace {

// Every status in numeric order: its sentence, and the short term that replaces it in images without sentences.
#define BANTAM_STATUSES(X)                                                                         \
  X(kOk, "ok", "ok")                                                                               \
  X(kInvalidArgument, "an argument is null, zero or out of range", "invalid argument")             \
  X(kMisaligned, "memory is not aligned as required", "misaligned")                                \
  X(kArenaTooSmall, "the arena is smaller than arena_bytes() states", "arena too small")           \
  X(kNotAModel, "not a bantam file", "not a model")                                                \
  X(kVersionTooNew, "the file was written by a newer version of bantam", "version too new")        \
  X(kTruncated, "the file is cut short", "truncated")                                              \
  X(kCorrupt, "the file is damaged or inconsistent", "corrupt")                                    \
  X(kUnsupported, "the file asks for something that this version does not execute", "unsupported") \
  X(kOpNotLinked, "this build leaves out an operator that the file uses", "not linked")            \
  X(kTooManyTokens, "more tokens than the session or the model takes", "too many tokens")          \
  X(kTooManySequences, "more sequences than the session takes", "too many sequences")              \
  X(kIndexOutOfRange, "a token, segment or output index is out of range", "index out of range")    \
  X(kNonFinite, "a NaN or an infinity turned up in the computation", "not finite")                 \
  X(kNoTokenizer, "the file holds no tokenizer: feed token ids", "no tokenizer")                   \
  X(kNoSuchTask, "the file's task is not the one asked for", "no such task")                       \
  X(kTextTooLong, "more text than the session takes", "text too long")                             \
  X(kBufferTooSmall, "the result buffer is too small", "buffer too small")                         \
  X(kNotRun, "no successful run yet", "not run")                                                   \
  X(kUnavailable, "not available in this build or on this machine", "unavailable")                 \
  X(kIo, "reading or mapping a file failed", "i/o")                                                \
  X(kInternal, "internal error", "internal")                                                       \
  X(kNoTokenAllowed, "no token may follow: settings leave out what the text may only be", "no token allowed")

// The texts are concatenated: a table of pointers would take as much flash as some of them.
#define BANTAM_SENTENCE(name, sentence, term) sentence "\0"
#define BANTAM_TERM(name, sentence, term) term "\0"
constexpr char kSentences[] = BANTAM_STATUSES(BANTAM_SENTENCE) "unknown status";
constexpr char kTerms[] = BANTAM_STATUSES(BANTAM_TERM) "unknown status";
constexpr const char* kMessages = linked::kFaultText ? kSentences : kTerms;
#undef BANTAM_SENTENCE
#undef BANTAM_TERM

#define BANTAM_NAME(name, sentence, term) Status::name,
constexpr Status kStatuses[] = {BANTAM_STATUSES(BANTAM_NAME)};
#undef BANTAM_NAME
constexpr uint32_t kCount = sizeof(kStatuses) / sizeof(kStatuses[0]);

constexpr bool in_order() {
  for (uint32_t i = 0; i < kCount; ++i) {
    if (kStatuses[i] != static_cast<Status>(i)) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

const char* status_message(Status status) {
  const auto number = static_cast<uint32_t>(status);
  const char* message = kMessages;
  for (uint32_t left = number < kCount ? number : kCount; left != 0; --left) message += strlen(message) + 1;
  return message;
}

}  // namespace bantam
