#include "run/text_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/json_file.h"
#include "base/printable.h"
#include "base/text_encoding.h"
#include "run/status_error.h"

namespace bantam::convert {

namespace {

std::string text_of_json(const std::string& line, const std::string& place) {
  const Json object = Json::parse(line, nullptr, false);
  for (const char* key : {"text", "text_a"}) {
    if (object.is_object() && object.contains(key) && object[key].is_string()) return object[key].get<std::string>();
  }
  fail(ExitCode::kInvalid, "{}: no JSON object with \"text\"; lines that are texts themselves belong in a .txt file",
       place);
}

}  // namespace

LineReader::LineReader(const std::string& path, Warn warn, Prompt prompt)
    : warn_(std::move(warn)),
      prompt_(prompt),
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
  const bool typed = prompt_ != nullptr && file_ == STDIN_FILENO && input_is_typed();
  if (typed) prompt_("> ");
  do {
    n = read(file_, buffer_.data() + old, kChunk);
  } while (n < 0 && errno == EINTR);
  const int cause = errno;
  if (typed && n == 0) prompt_("\n");
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

bool input_is_given() {
  struct stat status = {};
  if (input_is_typed()) return true;
  return fstat(STDIN_FILENO, &status) == 0 && !S_ISCHR(status.st_mode);
}

bool input_is_typed() { return isatty(STDIN_FILENO) == 1; }

TextSource::TextSource(const std::vector<std::string>& arguments, const std::string& file, Warn warn, Prompt prompt)
    : warn_(std::move(warn)), prompt_(prompt) {
  for (const std::string& argument : arguments) parts_.push_back({argument, argument == "-", false});
  constexpr std::string_view kJsonLines = ".jsonl";
  const bool json = file.size() > kJsonLines.size() &&
                    file.compare(file.size() - kJsonLines.size(), std::string::npos, kJsonLines) == 0;
  if (!file.empty()) parts_.push_back({file, true, json});
}

std::string TextSource::place() const {
  return reader_ == nullptr ? "" : fmt::format("{}, line {}", reader_->name(), reader_->line_number());
}

bool TextSource::next(std::string* text) {
  for (;;) {
    if (reader_ != nullptr) {
      if (reader_->next(text)) {
        if (parts_[position_ - 1].json) *text = text_of_json(*text, place());
        return true;
      }
      reader_.reset();
    }
    if (position_ == parts_.size()) return false;
    const Part& part = parts_[position_++];
    if (!part.lines) {
      *text = part.text;
      return true;
    }
    reader_ = std::make_unique<LineReader>(part.text, warn_, prompt_);
  }
}

}  // namespace bantam::convert
