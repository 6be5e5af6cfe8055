// Answers texts one after the other, with a rule for texts that cannot be answered.
#ifndef BANTAM_CONVERTER_CLI_STREAM_H_
#define BANTAM_CONVERTER_CLI_STREAM_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/answer/run.h"
#include "data/text_source.h"

namespace bantam::cli {

/// If neither `texts` nor a file is given, uses standard input, or fails with a message that asks for a `what`
/// ("query").
void require_texts(const char* what, const std::string& file, std::vector<std::string>* texts);

/// Returns true if texts come as a stream, in which a text that cannot be answered does not end the command.
bool is_stream(const std::vector<std::string>& texts, const std::string& file);

/// Returns true if several answers are expected, so that each answer needs its text above it. Returns false for texts
/// that a person types.
bool has_headings(const RunOptions& options);

/// Returns a Stream::next that gives single texts. `source` must outlive it.
std::function<bool(Input*)> one_by_one(convert::TextSource& source);

/// The source of texts and the receiver of answers.
struct Stream {
  /// Reads the next text; returns false at the end. Throws (kInvalid) if a line holds no text.
  std::function<bool(Input*)> next;
  /// Answers some texts. If it throws (kInvalid), it has printed nothing, and each of the texts is answered alone.
  std::function<void(const std::vector<Input>&)> answer;
  /// Returns true if the next text is available without waiting. Otherwise texts that have been read are answered
  /// first. Null: the next text is always waited for.
  std::function<bool()> ready = nullptr;
};

/// Answers every text, `options.engine.batch` at a time (kPacked: kPackedTexts). For a single text, a failure is thrown
/// at once. In a stream, the other texts are still answered; each failure is printed, as a JSON object with --json and
/// otherwise as a line on standard error, and the command fails at the end.
void answer_stream(const RunOptions& options, const Stream& stream);

/// Like answer_stream(), for commands that answer one text at a time.
void answer_each(RunOptions options, const std::function<void(const std::string& text)>& answer);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_STREAM_H_
