#include "data/text_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
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

size_t LineReader::read_bytes(char* out, size_t size) {
  ssize_t n = 0;
  const bool typed = prompt_ != nullptr && file_ == STDIN_FILENO && input_is_typed();
  if (typed) prompt_("> ");
  do {
    n = read(file_, out, size);
  } while (n < 0 && errno == EINTR);
  const int cause = errno;
  if (typed && n == 0) prompt_("\n");
  if (n < 0) fail(ExitCode::kIo, "{}: {}", name_, std::strerror(cause));
  taken_ += static_cast<uint64_t>(n);
  if (n == 0 && taken_ < least_) fail(ExitCode::kIo, "{}: ended while it was read", name_);
  return static_cast<size_t>(n);
}

bool LineReader::fill() {
  constexpr size_t kChunk = size_t{1} << 16;
  buffer_.erase(0, begin_);
  before_ += begin_;
  searched_ -= begin_;
  begin_ = 0;
  const size_t old = buffer_.size();
  const bool first = taken_ == 0;
  buffer_.resize(old + kChunk);
  try {
    const size_t n = gunzip_ ? gunzip_->read(buffer_.data() + old, kChunk) : read_bytes(buffer_.data() + old, kChunk);
    buffer_.resize(old + n);
    if (first) recognize();
  } catch (...) {  // what follows is not read, nor the beginning of a line that has no end
    buffer_.clear();
    begin_ = searched_ = 0;
    ended_ = true;
    throw;
  }
  return buffer_.size() > old;
}

void LineReader::recognize() {
  constexpr size_t kMostUnpacked = size_t{16} << 20;  // of a line: few bytes may unpack to many
  constexpr size_t kChunk = size_t{1} << 16;
  Compression kind = compression_of(name_, buffer_);
  while (kind == Compression::kMaybe) {
    std::array<char, 16> more{};
    const size_t n = read_bytes(more.data(), more.size());
    buffer_.append(more.data(), n);
    if (n == 0) break;
    kind = compression_of(name_, buffer_);
  }
  if (kind == Compression::kGzip) {
    gunzip_ =
        std::make_unique<Gunzip>(name_, buffer_, [this](char* out, size_t size) { return read_bytes(out, size); });
    limit(kMostUnpacked);
    buffer_.resize(kChunk);
    buffer_.resize(gunzip_->read(buffer_.data(), kChunk));
  }
  refuse_wide_encoding(name_, buffer_);
}

double LineReader::share() const {
  if (least_ == 0) return 0;
  const uint64_t done = gunzip_ ? taken_ : before_ + begin_;
  return std::min(1.0, static_cast<double>(done) / static_cast<double>(least_));
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

TextSource::TextSource(const std::vector<std::string>& arguments, const std::string& file, Warn warn, Prompt prompt)
    : warn_(std::move(warn)), prompt_(prompt) {
  for (const std::string& argument : arguments) parts_.push_back({argument, argument == "-"});
  if (!file.empty()) parts_.push_back({file, true});
}

TextSource::~TextSource() = default;

std::string TextSource::place() const {
  return reader_ == nullptr ? "" : fmt::format("{}, line {}", reader_->name(), reader_->line_number());
}

double TextSource::share() const { return reader_ == nullptr ? 0 : reader_->share(); }

bool TextSource::next_of_file(std::string* text) {
  try {
    if (!reader_->advance()) return false;
    if (reader_->has_texts()) {
      *text = reader_->text();
      return true;
    }
    const Record record = reader_->record();
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
    if (reader_ != nullptr && next_of_file(text)) return true;
    reader_.reset();
    if (position_ == parts_.size()) return false;
    const Part& part = parts_[position_++];
    if (!part.is_file) {
      *text = part.text;
      return true;
    }
    reader_ = std::make_unique<RecordReader>(part.text, PlainLine::kEveryText, warn_, prompt_);
  }
}

bool TextSource::ready() {
  if (reader_ != nullptr) return reader_->ready();
  return position_ == parts_.size() || !parts_[position_].is_file;
}

}  // namespace bantam::convert
