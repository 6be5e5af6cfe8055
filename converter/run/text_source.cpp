#include "run/text_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/printable.h"
#include "base/text_encoding.h"
#include "run/status_error.h"

namespace bantam::convert {

LineReader::LineReader(const std::string& path, Warn warn)
    : warn_(std::move(warn)),
      name_(path == "-" ? "standard input" : path),
      file_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY)) {
  if (file_ < 0) fail(ExitCode::kIo, "{}: {}; check the path", name_, std::strerror(errno));
}

LineReader::~LineReader() {
  if (file_ != STDIN_FILENO) close(file_);
}

bool LineReader::fill() {
  constexpr size_t kChunk = size_t{1} << 16;
  buffer_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  const size_t old = buffer_.size();
  buffer_.resize(old + kChunk);
  ssize_t n = 0;
  do {
    n = read(file_, buffer_.data() + old, kChunk);
  } while (n < 0 && errno == EINTR);
  const int cause = errno;
  buffer_.resize(old + static_cast<size_t>(n > 0 ? n : 0));
  if (n < 0) fail(ExitCode::kIo, "{}: {}", name_, std::strerror(cause));
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

bool LineReader::next_raw(std::string* line) {
  for (;;) {
    const size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      line->assign(buffer_, begin_, end - begin_);
      begin_ = searched_ = end + 1;
      ++line_number_;
      return true;
    }
    searched_ = buffer_.size();
    if (!ended_ && fill()) continue;
    ended_ = true;
    if (begin_ == buffer_.size()) return false;
    line->assign(buffer_, begin_, buffer_.size() - begin_);
    begin_ = searched_ = buffer_.size();
    ++line_number_;
    return true;
  }
}

TextSource::TextSource(const std::vector<std::string>& arguments, const std::string& file, Warn warn)
    : warn_(std::move(warn)) {
  for (const std::string& argument : arguments) parts_.push_back({argument, argument == "-"});
  if (!file.empty()) parts_.push_back({file, true});
}

bool TextSource::next(std::string* text) {
  for (;;) {
    if (reader_ != nullptr) {
      if (reader_->next(text)) return true;
      reader_.reset();
    }
    if (position_ == parts_.size()) return false;
    const Part& part = parts_[position_++];
    if (!part.lines) {
      *text = part.text;
      return true;
    }
    reader_ = std::make_unique<LineReader>(part.text, warn_);
  }
}

}  // namespace bantam::convert
