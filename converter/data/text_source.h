// Streams texts from arguments, a file, or standard input, one a line.
#ifndef BANTAM_CONVERTER_DATA_TEXT_SOURCE_H_
#define BANTAM_CONVERTER_DATA_TEXT_SOURCE_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/json_file.h"

namespace bantam::convert {

/// Takes a message that a user should know and that is no error.
using Warn = std::function<void(const std::string&)>;

/// Shows `text` to a person who is to type the next line ("> "), or has ended the input ("\n").
using Prompt = void (*)(const char* text);

/// Reads lines of any bytes; '\n' alone ends a line, the last one may lack it. A person at a terminal is
/// prompted.
class LineReader {
 public:
  /// "-": standard input. `most`: bytes that a line may have. Throws when the file cannot be opened.
  explicit LineReader(const std::string& path, Warn warn = nullptr, Prompt prompt = nullptr,
                      size_t most = std::numeric_limits<size_t>::max());
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// Reads the next line, without its carriage return or a byte order mark. Warns once if it is not UTF-8. Returns
  /// false at the end. Throws on a read error, if the file is in UTF-16 or UTF-32, and for a line that is too long
  /// (kInvalid): the next call continues behind it.
  bool next(std::string* line);
  /// Returns true if next() need not wait for a program or a person that writes the line.
  bool ready();
  /// Number of the line that next() gave last, from 1.
  size_t line_number() const { return line_number_; }
  /// The byte offset of that line in the file.
  uint64_t offset() const { return offset_; }
  const std::string& name() const { return name_; }

 private:
  bool fill();
  bool next_raw(std::string* line);
  /// Skips to the end of a line that is too long, keeps nothing of it, and throws.
  [[noreturn]] void refuse_line();

  Warn warn_;
  Prompt prompt_;
  size_t most_;
  std::string name_;
  int file_;
  std::string buffer_;
  size_t begin_ = 0;
  uint64_t before_ = 0;  // bytes of the file in front of buffer_
  uint64_t least_ = 0;   // bytes that there were to read when it was opened: fewer are an error
  uint64_t offset_ = 0;
  size_t searched_ = 0;  // buffer_[begin_, searched_) holds no newline
  size_t line_number_ = 0;
  bool ended_ = false;
};

/// Returns true if standard input holds texts without an option that says so: a pipe, a file, or a person at a
/// terminal.
bool input_is_given();

/// Returns true if standard input is a person at a terminal.
bool input_is_typed();

class RecordReader;

/// The texts of one command: `arguments` in order, where "-" stands for standard input; then `file`'s lines, or the
/// text of each record if it is a .jsonl, .csv or .tsv file (data/records.h).
class TextSource {
 public:
  TextSource(const std::vector<std::string>& arguments, const std::string& file, Warn warn = nullptr,
             Prompt prompt = nullptr);
  ~TextSource();
  /// Returns false at the end. Throws on a read error, and for a record that holds no text (kInvalid): the next call
  /// continues behind it.
  bool next(std::string* text);
  /// Returns true if next() need not wait for the writer of the text.
  bool ready();
  /// "FILE, line N" of the text that next() gave last or refused; empty for an argument.
  std::string place() const;
  /// The value under "entities" in the record of that text; null if there is none.
  const Json& entities() const { return entities_; }

 private:
  struct Part;
  bool next_record(std::string* text);

  Warn warn_;
  Prompt prompt_;
  std::vector<Part> parts_;
  size_t position_ = 0;
  std::unique_ptr<LineReader> lines_;
  std::unique_ptr<RecordReader> records_;
  Json entities_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_TEXT_SOURCE_H_
