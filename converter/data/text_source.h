// Streams texts from arguments, a file or standard input, one per line.
#ifndef BANTAM_CONVERTER_DATA_TEXT_SOURCE_H_
#define BANTAM_CONVERTER_DATA_TEXT_SOURCE_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "data/compressed.h"

namespace bantam::convert {

/// Receives a message for the user that is not an error.
using Warn = std::function<void(const std::string&)>;

/// Prints `text` for a person who types the input: "> " before a line, "\n" at the end of the input.
using Prompt = void (*)(const char* text);

/// Reads lines of arbitrary bytes, or of the content of a gzip file (data/compressed.h). Only '\n' ends a line; the
/// last line may lack it. Prompts a person at a terminal.
class LineReader {
 public:
  /// "-": standard input. `most`: the largest number of bytes of a line. Throws if the file cannot be opened.
  explicit LineReader(const std::string& path, Warn warn = nullptr, Prompt prompt = nullptr,
                      size_t most = std::numeric_limits<size_t>::max());
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// Reads the next line, without its carriage return and without a byte order mark. Warns once if it is not UTF-8.
  /// Returns false at the end. Throws on a read error, if the file is in UTF-16 or UTF-32, and for a line that is too
  /// long (kInvalid); the next call then continues after that line.
  bool next(std::string* line);
  /// Returns true if next() will not wait for a program or a person to write the line.
  bool ready();
  /// Returns the number of the line that next() read last, counted from 1.
  size_t line_number() const { return line_number_; }
  /// Returns the byte offset of that line in the file; in a compressed one, in its content.
  uint64_t offset() const { return offset_; }
  /// Returns the share of the file that has been read, in [0, 1]; 0: unknown, as for pipes.
  double share() const;
  /// Sets the largest number of bytes of later lines.
  void limit(size_t most) { most_ = std::min(most_, most); }
  bool is_compressed() const { return gunzip_ != nullptr; }
  const std::string& name() const { return name_; }

 private:
  bool fill();
  /// Reads bytes of the file as they are.
  size_t read_bytes(char* out, size_t size);
  /// Looks at the first bytes, and unpacks what is compressed.
  void recognize();
  bool next_raw(std::string* line);
  /// Skips to the end of a line that is too long, without storing it, and throws.
  [[noreturn]] void refuse_line();

  Warn warn_;
  Prompt prompt_;
  size_t most_;
  std::string name_;
  int file_;
  std::string buffer_;
  size_t begin_ = 0;
  uint64_t before_ = 0;  // bytes of the file before buffer_
  uint64_t least_ = 0;   // bytes available when the file was opened; fewer are an error
  uint64_t taken_ = 0;   // bytes read from the file
  std::unique_ptr<Gunzip> gunzip_;
  uint64_t offset_ = 0;
  size_t searched_ = 0;  // buffer_[begin_, searched_) contains no newline
  size_t line_number_ = 0;
  bool ended_ = false;
};

/// Returns true if standard input supplies texts even without an option: it is a pipe, a file, or a person at a
/// terminal.
bool input_is_given();

/// Returns true if standard input is a terminal at which a person types.
bool input_is_typed();

class RecordReader;

/// The texts of a command: `arguments` in order, where "-" stands for standard input; then those of `file`: its lines
/// or the text of each of its records, as RecordReader decides (data/records.h). Empty lines between texts are texts.
class TextSource {
 public:
  TextSource(const std::vector<std::string>& arguments, const std::string& file, Warn warn = nullptr,
             Prompt prompt = nullptr);
  ~TextSource();
  /// Returns false at the end. Throws on a read error, and for a record without a text (kInvalid); the next call then
  /// continues after that record.
  bool next(std::string* text);
  /// Returns true if next() will not wait for the text to be written.
  bool ready();
  /// Returns "FILE, line N" for the text that next() read or refused last; empty for an argument.
  std::string place() const;
  /// Returns the share of the current file that has been read, in [0, 1]; 0: unknown.
  double share() const;
  /// Returns the value of "entities" in the record of that text; null if there is none.
  const Json& entities() const { return entities_; }

 private:
  struct Part {
    std::string text;
    bool is_file = false;
  };
  bool next_of_file(std::string* text);

  Warn warn_;
  Prompt prompt_;
  std::vector<Part> parts_;
  size_t position_ = 0;
  std::unique_ptr<RecordReader> reader_;
  Json entities_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_TEXT_SOURCE_H_
