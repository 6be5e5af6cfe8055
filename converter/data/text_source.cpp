#include "data/text_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/printable.h"
#include "base/readable.h"
#include "base/status_error.h"
#include "base/text_encoding.h"
#include "data/records.h"

namespace bantam::convert {

LineReader::LineReader(const std::string& path, Warn warn, Prompt prompt, size_t most)
    : warn_(std::move(warn)),
      prompt_(prompt),
      most_(most),
      name_(path == "-" ? "standard input" : path),
      file_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY)) {
  if (file_ < 0) fail(ExitCode::kIo, "{}: {}; check the path", name_, std::strerror(errno));
  struct stat status = {};
  if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) return;
  const off_t at = lseek(file_, 0, SEEK_CUR);  // another program may have read the beginning of standard input
  if (at >= 0 && at < status.st_size) least_ = static_cast<uint64_t>(status.st_size - at);
}

LineReader::~LineReader() {
  if (file_ != STDIN_FILENO) close(file_);
}

bool LineReader::fill() {
  constexpr size_t kChunk = size_t{1} << 16;
  buffer_.erase(0, begin_);
  before_ += begin_;
  searched_ -= begin_;
  begin_ = 0;
  const size_t old = buffer_.size();
  buffer_.resize(old + kChunk);
  ssize_t n = 0;
  const bool typed = prompt_ != nullptr && file_ == STDIN_FILENO && input_is_typed();
  if (typed) prompt_("> ");
  do {
    n = read(file_, buffer_.data() + old, kChunk);
  } while (n < 0 && errno == EINTR);
  const int cause = errno;
  if (typed && n == 0) prompt_("\n");
  buffer_.resize(old + static_cast<size_t>(n > 0 ? n : 0));
  if (n < 0) fail(ExitCode::kIo, "{}: {}", name_, std::strerror(cause));
  if (n == 0 && before_ + old < least_) fail(ExitCode::kIo, "{}: ended while it was read", name_);
  if (old == 0 && line_number_ == 0) refuse_wide_encoding(name_, buffer_);
  return n > 0;
}

bool LineReader::next(std::string* line) {
  if (!next_raw(line)) return false;
  clean_line(line, line_number_ == 1);
  if (warn_ && !is_utf8(*line)) {
    warn_(
        fmt::format("{}: line {} is not UTF-8 (Latin-1?): what is not is read as U+FFFD; "
                    "iconv -f ISO-8859-1 -t UTF-8 IN > OUT makes it so",
                    printable(name_), line_number_));
    warn_ = nullptr;
  }
  return true;
}

bool LineReader::ready() {
  for (;;) {
    if (ended_ || buffer_.find('\n', searched_) != std::string::npos) return true;
    searched_ = buffer_.size();
    if (searched_ - begin_ > most_) return true;  // next() will refuse it
    if (prompt_ != nullptr && file_ == STDIN_FILENO && input_is_typed()) return false;
    pollfd wait = {file_, POLLIN, 0};
    if (poll(&wait, 1, 0) <= 0) return false;
    ended_ = !fill();
  }
}

void LineReader::refuse_line() {
  ++line_number_;
  size_t end = buffer_.find('\n', begin_);
  while (end == std::string::npos && !ended_) {
    begin_ = searched_ = buffer_.size();
    ended_ = !fill();
    end = buffer_.find('\n', begin_);
  }
  begin_ = searched_ = end == std::string::npos ? buffer_.size() : end + 1;
  fail(ExitCode::kInvalid, "{}, line {}: is longer than {}; put each record on a line of its own", name_, line_number_,
       readable_bytes(most_));
}

bool LineReader::next_raw(std::string* line) {
  for (;;) {
    const size_t end = buffer_.find('\n', searched_);
    offset_ = before_ + begin_;
    if (end != std::string::npos) {
      if (end - begin_ > most_) refuse_line();
      line->assign(buffer_, begin_, end - begin_);
      begin_ = searched_ = end + 1;
      ++line_number_;
      return true;
    }
    searched_ = buffer_.size();
    if (searched_ - begin_ > most_) refuse_line();
    if (!ended_ && fill()) continue;
    ended_ = true;
    if (begin_ == buffer_.size()) return false;
    line->assign(buffer_, begin_, buffer_.size() - begin_);
    begin_ = searched_ = buffer_.size();
    ++line_number_;
    return true;
  }
}

bool input_is_given() {
  struct stat status = {};
  if (input_is_typed()) return true;
  return fstat(STDIN_FILENO, &status) == 0 && !S_ISCHR(status.st_mode);
}

bool input_is_typed() { return isatty(STDIN_FILENO) == 1; }

/// One source of texts: an argument, or the lines of a file.
struct TextSource::Part {
  std::string text;
  enum class Kind : uint8_t { kText, kLines, kRecords } kind = Kind::kText;
};

TextSource::TextSource(const std::vector<std::string>& arguments, const std::string& file, Warn warn, Prompt prompt)
    : warn_(std::move(warn)), prompt_(prompt) {
  for (const std::string& argument : arguments) {
    parts_.push_back({argument, argument == "-" ? Part::Kind::kLines : Part::Kind::kText});
  }
  if (!file.empty()) parts_.push_back({file, holds_records(file) ? Part::Kind::kRecords : Part::Kind::kLines});
}

TextSource::~TextSource() = default;

std::string TextSource::place() const {
  if (lines_ != nullptr) return fmt::format("{}, line {}", lines_->name(), lines_->line_number());
  return records_ == nullptr ? "" : fmt::format("{}, line {}", records_->name(), records_->line_number());
}

bool TextSource::next_record(std::string* text) {
  try {
    Record record;
    if (!records_->next(&record)) return false;
    *text = record.first();
    entities_ = record.raw("entities");
    return true;
  } catch (const BadRecord& bad) {
    fail(ExitCode::kInvalid, "{}: {}; lines that are texts themselves belong in a .txt file", place(), bad.what);
  }
}

bool TextSource::next(std::string* text) {
  entities_ = Json();
  for (;;) {
    if (lines_ != nullptr && lines_->next(text)) return true;
    if (records_ != nullptr && next_record(text)) return true;
    lines_.reset();
    records_.reset();
    if (position_ == parts_.size()) return false;
    const Part& part = parts_[position_++];
    switch (part.kind) {
      case Part::Kind::kText:
        *text = part.text;
        return true;
      case Part::Kind::kLines:
        lines_ = std::make_unique<LineReader>(part.text, warn_, prompt_);
        break;
      case Part::Kind::kRecords:
        records_ = std::make_unique<RecordReader>(part.text, PlainLine::kBad, warn_);
        break;
    }
  }
}

bool TextSource::ready() {
  if (lines_ != nullptr) return lines_->ready();
  if (records_ != nullptr) return records_->ready();
  return position_ == parts_.size() || parts_[position_].kind == Part::Kind::kText;
}

}  // namespace bantam::convert
