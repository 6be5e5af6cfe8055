// Answers texts one after the other, with a rule for texts that cannot be answered.
#ifndef BANTAM_CONVERTER_CLI_STREAM_H_
#define BANTAM_CONVERTER_CLI_STREAM_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/answer/run.h"
#include "data/text_source.h"

namespace bantam::cli {

/// Where neither `texts` nor a file of them are given: standard input, or a failure that asks for a `what` ("query").
void require_texts(const char* what, const std::string& file, std::vector<std::string>* texts);

/// Returns true if texts come one after another, so that a text which cannot be answered does not end the command.
bool is_stream(const std::vector<std::string>& texts, const std::string& file);

/// Returns true if several answers are expected, so that each needs its text above it. False for texts that a person
/// types.
bool has_headings(const RunOptions& options);

/// Stream::next of texts that stand alone. `source` outlives it.
std::function<bool(Input*)> one_by_one(convert::TextSource& source);

/// The source of texts and the receiver of answers.
struct Stream {
  /// The next text; false at the end. Throws (kInvalid) where a line holds none.
  std::function<bool(Input*)> next;
  /// Answers some texts, and prints nothing where it throws (kInvalid): then each of them is answered alone.
  std::function<void(const std::vector<Input>&)> answer;
  /// Returns true if the next text is there without waiting for it. If not, texts that have been read are answered
  /// first. Null: not asked.
  std::function<bool()> ready = nullptr;
};

/// Answers every text, `options.engine.batch` at a time (kPacked: kPackedTexts). For a single text a failure is thrown
/// at once. In a stream the other texts are answered; a failure is an object of its own with --json, else a line on
/// standard error, and the command fails at the end.
void answer_stream(const RunOptions& options, const Stream& stream);

/// The same for answers to one text at a time.
void answer_each(RunOptions options, const std::function<void(const std::string& text)>& answer);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_STREAM_H_
