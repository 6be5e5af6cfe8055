// Where texts come from: arguments, a file, or standard input, a line each, as a stream.
#ifndef BANTAM_CONVERTER_RUN_TEXT_SOURCE_H_
#define BANTAM_CONVERTER_RUN_TEXT_SOURCE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bantam::convert {

/// Reads lines of any length and any bytes; '\n' alone ends a line, the last one may lack it.
class LineReader {
 public:
  /// "-": standard input. Throws when the file cannot be opened.
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// False at the end. Throws on a read error.
  bool next(std::string* line);
  /// Number of the line that next() gave last, from 1.
  size_t line_number() const { return line_number_; }
  const std::string& name() const { return name_; }

 private:
  bool fill();

  std::string name_;
  int file_;
  std::string buffer_;
  size_t begin_ = 0;
  size_t searched_ = 0;  // buffer_[begin_, searched_) holds no newline
  size_t line_number_ = 0;
  bool ended_ = false;
};

/// The texts of one command: `arguments` in order, where "-" stands for standard input; then `file`'s lines.
class TextSource {
 public:
  TextSource(const std::vector<std::string>& arguments, const std::string& file);
  bool next(std::string* text);

 private:
  /// One place that texts come from: an argument, or the lines of a file.
  struct Part {
    std::string text;
    bool lines = false;
  };
  std::vector<Part> parts_;
  size_t position_ = 0;
  std::unique_ptr<LineReader> reader_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_TEXT_SOURCE_H_
