#include "run/text_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "run/status_error.h"

namespace bantam::convert {

LineReader::LineReader(const std::string& path)
    : name_(path == "-" ? "standard input" : path), file_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY)) {
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
  return n > 0;
}

bool LineReader::next(std::string* line) {
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

TextSource::TextSource(const std::vector<std::string>& arguments, const std::string& file) {
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
    reader_ = std::make_unique<LineReader>(part.text);
  }
}

}  // namespace bantam::convert
