#include "base/status_error.h"

#include "base/printable.h"

namespace bantam::convert {
namespace {

/// Returns what the user can do about a status; empty if the message says it all.
std::string_view next_step(Status status) {
  switch (status) {
    case Status::kNotAModel:
      return "convert a Hugging Face directory first: bantam convert DIR -o FILE.bantam";
    case Status::kVersionTooNew:
      return "use a newer bantam, or convert the model again with this one";
    case Status::kTruncated:
    case Status::kCorrupt:
      return "copy or convert the file again";
    case Status::kInvalidArgument:
      return "use a smaller --batch or --max-tokens, or fewer --threads";
    case Status::kNoTokenizer:
      return "pass token ids: bantam run FILE --ids 1,2,3 --raw";
    case Status::kTooManyTokens:
      return "shorten it; bantam inspect FILE shows how many are taken";
    case Status::kIndexOutOfRange:
      return "bantam inspect FILE shows the vocabulary and the segment types";
    case Status::kNoSuchTask:
      return "bantam run FILE chooses the file's own task";
    case Status::kUnavailable:
      return "bantam version lists the instruction sets of this machine and build";
    case Status::kNonFinite:
      return "bantam verify FILE checks the weights";
    case Status::kNoTokenAllowed:
      return "leave out --min-new and --no-repeat-ngram, or give answers that they allow";
    default:
      return "";
  }
}

}  // namespace

ExitCode exit_code(Status status) {
  switch (status) {
    case Status::kOk:
      return ExitCode::kOk;
    case Status::kNotAModel:
    case Status::kTruncated:
    case Status::kCorrupt:
    case Status::kTooManyTokens:
    case Status::kTooManySequences:
    case Status::kIndexOutOfRange:
    case Status::kNonFinite:
    case Status::kNoTokenizer:
    case Status::kTextTooLong:
    case Status::kNoTokenAllowed:
      return ExitCode::kInvalid;
    case Status::kVersionTooNew:
    case Status::kUnsupported:
    case Status::kOpNotLinked:
    case Status::kNoSuchTask:
    case Status::kUnavailable:
      return ExitCode::kUnsupported;
    case Status::kIo:
      return ExitCode::kIo;
    default:
      return ExitCode::kInternal;
  }
}

void check(Status status, std::string_view where) {
  if (status == Status::kOk) return;
  const std::string_view step = next_step(status);
  fail(exit_code(status), "{}: {}{}{}", where, status_message(status), step.empty() ? "" : "; ", step);
}

std::string describe(Status status, const Fault& fault) {
  std::string text = status_message(status);
  if (fault.what[0] != '\0') text += fmt::format(": {}", fault.what);
  if (fault.name_size != 0) text += fmt::format(" ({})", printable({fault.name, fault.name_size}));
  const std::string_view step = next_step(status);
  if (!step.empty()) text += fmt::format("; {}", step);
  return text;
}

}  // namespace bantam::convert
