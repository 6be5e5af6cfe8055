#include "source/vector_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "base/text_encoding.h"

namespace bantam::convert {
namespace {

constexpr size_t kMostLine = size_t{4} << 20;
constexpr size_t kMostWord = 4096;
constexpr uint64_t kMostVectorColumns = 1U << 16;
constexpr uint64_t kMostVectorRows = 1U << 22;  // the limit of a word table (text::kMaxVocabulary)
constexpr uint64_t kMostNumbers = uint64_t{1} << 32;
constexpr size_t kShownLines = 8;
constexpr std::string_view kColumnBlanks = " \t";

std::string shown_word(std::string_view word) {
  return fmt::format("\"{}\"{}", printable(word.substr(0, 40)), word.size() > 40 ? "..." : "");
}

/// Splits a line at spaces and tabs.
std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; (at = line.find_first_not_of(kColumnBlanks, at)) != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kColumnBlanks, at), line.size());
    parts.push_back(line.substr(at, end - at));
    at = end;
  }
  return parts;
}

template <typename T>
bool parse_whole(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Parses the line "rows columns".
bool is_header(std::string_view line, uint64_t* rows, uint64_t* columns) {
  const std::vector<std::string_view> parts = columns_of(line);
  return parts.size() == 2 && parse_whole(parts[0], rows) && parse_whole(parts[1], columns);
}

class VectorReader {
 public:
  VectorReader(std::istream& in, uint64_t size, const std::string& name, uint32_t most)
      : in_(in),
        size_(size),
        name_(name),
        most_(most == 0 ? kMostVectorRows : std::min<uint64_t>(most, kMostVectorRows)) {}

  WordVectors text() {
    std::string line;
    uint64_t rows = 0, columns = 0;
    bool headed = false;
    for (number_ = 1; read_line(&line); ++number_) {
      clean_line(&line, number_ == 1);
      if (number_ == 1) {
        refuse_wide_encoding(name_, line.substr(0, 4));
        headed = is_header(line, &rows, &columns);
        if (headed) {
          start(rows, columns);
          continue;
        }
      }
      if (line.find_first_not_of(kColumnBlanks) == std::string::npos) continue;
      if (full() || (headed && out_.words.size() == rows)) break;
      text_row(line);
      if (bad_ >= kShownLines) break;
    }
    if (bad_ == 0 && headed && out_.words.size() < std::min(rows, most_)) {
      complain(fmt::format("line 1: says {} rows, but {} follow; is the file complete?", rows, out_.words.size()));
    }
    return finish();
  }

  WordVectors binary() {
    std::string line;
    uint64_t rows = 0, columns = 0;
    if (!read_line(&line) || !is_header(line, &rows, &columns)) {
      throw Error(ExitCode::kInvalid, fmt::format("{}: does not begin with a line of rows and columns", name_));
    }
    start(rows, columns);
    const uint64_t least = columns * sizeof(float) + 2;  // with a word of one letter and a space
    if (size_ / least < rows) {
      throw Error(ExitCode::kInvalid,
                  fmt::format("{}: says {} rows of {} numbers, which are more than its {} bytes; is it complete?",
                              name_, rows, columns, size_));
    }
    std::string bytes(static_cast<size_t>(columns) * sizeof(float), '\0');
    for (number_ = 1; number_ <= rows && !full() && bad_ < kShownLines; ++number_) {
      const std::string word = binary_word();
      if (!in_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
        throw Error(ExitCode::kInvalid,
                    fmt::format("{}: ends in row {} of {}; is the file complete?", name_, number_, rows));
      }
      const size_t begin = out_.values.size();
      out_.values.resize(begin + out_.width);
      std::memcpy(out_.values.data() + begin, bytes.data(), bytes.size());
      add_word("row", word);
    }
    return finish();
  }

 private:
  bool full() const { return out_.words.size() + bad_ >= most_; }

  void complain(std::string what) {
    ++bad_;
    problems_.add(ExitCode::kInvalid, fmt::format("{}: {}", name_, what));
  }

  /// Returns false at the end.
  bool read_line(std::string* line) {
    line->clear();
    for (int c = in_.get(); c != std::istream::traits_type::eof(); c = in_.get()) {
      if (c == '\n') return true;
      if (line->size() == kMostLine) {
        throw Error(ExitCode::kInvalid, fmt::format("{}: line {}: has more than {} bytes; is it a file of vectors?",
                                                    name_, number_, kMostLine));
      }
      line->push_back(static_cast<char>(c));
    }
    return !line->empty();
  }

  void start(uint64_t rows, uint64_t columns) {
    if (rows == 0 || columns == 0 || columns > kMostVectorColumns || std::min(rows, most_) * columns > kMostNumbers) {
      throw Error(ExitCode::kInvalid,
                  fmt::format("{}: line 1: {} rows of {} numbers are none, or more than this version "
                              "takes ({} rows, {} columns)",
                              name_, rows, columns, kMostVectorRows, kMostVectorColumns));
    }
    if (rows > kMostVectorRows && most_ == kMostVectorRows) too_many();
    out_.width = static_cast<uint32_t>(columns);
  }

  [[noreturn]] void too_many() const {
    throw Error(ExitCode::kUnsupported,
                fmt::format("{}: has more than {} words; \"max_words\" in config.json takes the first ones", name_,
                            kMostVectorRows));
  }

  /// Reads a row. Words may contain spaces: the numbers are the last columns.
  void text_row(std::string_view line) {
    const std::vector<std::string_view> parts = columns_of(line);
    if (out_.width == 0) {
      if (parts.size() < 2 || parts.size() - 1 > kMostVectorColumns) {
        return complain(fmt::format("line {}: is not a word with numbers behind it", number_));
      }
      out_.width = static_cast<uint32_t>(parts.size() - 1);
    }
    if (parts.size() <= out_.width) {
      return complain(fmt::format("line {}: has {} numbers behind its word, not {}; correct or remove it", number_,
                                  parts.empty() ? 0 : parts.size() - 1, out_.width));
    }
    const size_t first = parts.size() - out_.width;
    const char* begin = parts[0].data();
    const std::string_view word(begin, static_cast<size_t>(parts[first - 1].data() + parts[first - 1].size() - begin));
    float last = 0;
    if (first > 1 && parse_whole(parts[first - 1], &last)) {
      return complain(fmt::format("line {}: has {} numbers behind its word, not {}; correct or remove it", number_,
                                  parts.size() - 1, out_.width));
    }
    const size_t before = out_.values.size();
    out_.values.resize(before + out_.width);
    for (size_t i = 0; i < out_.width; ++i) {
      if (parse_whole(parts[first + i], &out_.values[before + i])) continue;
      out_.values.resize(before);
      return complain(fmt::format("line {}: column {}: {} is not a number of 32 bits; correct or remove it", number_,
                                  i + 1, shown_word(parts[first + i])));
    }
    add_word("line", std::string(word));
  }

  std::string binary_word() {
    std::string word;
    for (int c = in_.get(); c != ' '; c = in_.get()) {
      if (c == std::istream::traits_type::eof()) {
        throw Error(ExitCode::kInvalid, fmt::format("{}: ends in row {}; is the file complete?", name_, number_));
      }
      if (c == '\n' && word.empty()) continue;
      if (word.size() == kMostWord) {
        throw Error(ExitCode::kInvalid,
                    fmt::format("{}: row {}: has a word of more than {} bytes; is it a file of vectors?", name_,
                                number_, kMostWord));
      }
      word.push_back(static_cast<char>(c));
    }
    return word;
  }

  /// Adds the word of the last row of values; removes the row if the word or a value is bad.
  void add_word(const char* place, const std::string& word) {
    const float* row = out_.values.data() + out_.values.size() - out_.width;
    const float* bad = std::find_if(row, row + out_.width, [](float value) { return !std::isfinite(value); });
    std::string what;
    if (word.empty()) {
      what = "has no word";
    } else if (bad != row + out_.width) {
      what = fmt::format("column {}: is {}, no finite number", bad - row + 1, *bad);
    } else if (out_.words.size() >= kMostVectorRows) {
      too_many();
    } else if (const auto [found, fresh] = places_.emplace(word, number_); !fresh) {
      what = fmt::format("has the word {} of {} {}; remove one", shown_word(word), place, found->second);
    } else {
      out_.words.push_back(word);
      return;
    }
    out_.values.resize(out_.values.size() - out_.width);
    complain(fmt::format("{} {}: {}", place, number_, what));
  }

  WordVectors finish() {
    if (bad_ == 0 && out_.words.empty()) complain("holds no vectors");
    problems_.raise();
    return std::move(out_);
  }

  std::istream& in_;
  uint64_t size_;
  std::string name_;
  uint64_t most_;
  uint64_t number_ = 1;  // of the line or row
  size_t bad_ = 0;
  Problems problems_;
  WordVectors out_;
  std::unordered_map<std::string, uint64_t> places_;
};

}  // namespace

VectorFormat vector_format(std::string_view start, bool text) {
  const size_t end = start.find('\n');
  const std::string_view first = start.substr(0, std::min(end, start.size()));
  uint64_t rows = 0, columns = 0;
  const bool headed = end != std::string::npos && is_header(first, &rows, &columns);
  if (headed && !text) return VectorFormat::kBinary;
  if (!text) return VectorFormat::kNone;
  if (headed) return VectorFormat::kText;
  const std::vector<std::string_view> parts = columns_of(first);
  float value = 0;
  const bool numbers = parts.size() > 2 && parse_whole(parts[1], &value) && parse_whole(parts[2], &value);
  return numbers ? VectorFormat::kText : VectorFormat::kNone;
}

WordVectors read_vectors(std::istream& in, uint64_t size, VectorFormat format, const std::string& name, uint32_t most) {
  VectorReader reader(in, size, name, most);
  return format == VectorFormat::kBinary ? reader.binary() : reader.text();
}

}  // namespace bantam::convert
