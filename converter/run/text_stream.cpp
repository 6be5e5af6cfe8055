#include "run/text_stream.h"

#include <algorithm>

#include "base/status_error.h"

namespace bantam::convert {

TextStream::TextStream(const Tokenizer& tokenizer, const std::vector<int32_t>& prompt,
                       const std::vector<std::string>& stop, const TakeText& take)
    : stop_(stop), take_(take) {
  const auto append = [](void* target, const char* bytes, size_t size) {
    static_cast<std::string*>(target)->append(bytes, size);
  };
  TextDecoder alone;
  check(TextDecoder::open(tokenizer, true, append, &text_, &alone), "the tokenizer");
  for (const int32_t id : prompt) alone.add(id);
  alone.finish();
  begin_ = shown_ = text_.size();
  text_.clear();
  check(TextDecoder::open(tokenizer, true, append, &text_, &decoder_), "the tokenizer");
  for (const int32_t id : prompt) decoder_.add(id);
}

bool TextStream::add(int32_t id) {
  decoder_.add(id);
  return show(false);
}

std::string TextStream::finish() {
  if (!stopped_) {
    decoder_.finish();
    show(true);
  }
  return text_.size() > begin_ ? text_.substr(begin_) : "";
}

bool TextStream::show(bool last) {
  if (text_.size() <= shown_) return true;
  size_t end = text_.size();
  for (const std::string& stop : stop_) {
    const size_t from = shown_ - std::min(shown_ - begin_, stop.size());
    const size_t found = text_.find(stop, from);
    if (found < end) {
      end = found;
      stopped_ = true;
    }
  }
  if (stopped_) {
    text_.resize(end);
  } else if (!last) {
    end -= longest_beginning();
  }
  if (end > shown_ && take_) take_(std::string_view(text_).substr(shown_, end - shown_));
  shown_ = std::max(shown_, end);
  return !stopped_;
}

/// Returns the number of bytes at the text's end that may begin a stop text.
size_t TextStream::longest_beginning() const {
  size_t longest = 0;
  for (const std::string& stop : stop_) {
    for (size_t size = std::min(stop.size() - 1, text_.size() - shown_); size > longest; --size) {
      if (text_.compare(text_.size() - size, size, stop, 0, size) == 0) longest = size;
    }
  }
  return longest;
}

}  // namespace bantam::convert
