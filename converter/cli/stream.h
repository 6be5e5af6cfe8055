// Texts one after the other: what becomes of one that cannot be answered.
#ifndef BANTAM_CONVERTER_CLI_STREAM_H_
#define BANTAM_CONVERTER_CLI_STREAM_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/run.h"
#include "data/text_source.h"

namespace bantam::cli {

/// Do texts come one after another, so that one which cannot be answered does not end the command?
bool is_stream(const std::vector<std::string>& texts, const std::string& file);

/// Are several answers to be expected, so that each needs its text above it? Not of texts that a person types.
bool has_headings(const RunOptions& options);

/// Stream::next of texts that stand alone. `source` outlives it.
std::function<bool(Input*)> one_by_one(convert::TextSource& source);

/// Where texts come from and where they go.
struct Stream {
  /// The next text; false at the end. Throws (kInvalid) where a line holds none.
  std::function<bool(Input*)> next;
  /// Answers some texts, and prints nothing where it throws (kInvalid): then each of them is answered alone.
  std::function<void(const std::vector<Input>&)> answer;
  /// Is the next text there without waiting for it? If not, those that have been read are answered first. Null: not asked.
  std::function<bool()> ready = nullptr;
};

/// Answers every text, `options.engine.batch` at a time (kPacked: kPackedTexts). Of one text alone a failure is thrown at once. In a stream the others are
/// answered; a failure is an object of its own with --json, else a line on standard error, and the command fails at the end.
void answer_stream(const RunOptions& options, const Stream& stream);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_STREAM_H_
