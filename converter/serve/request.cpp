#include "serve/request.h"

#include <algorithm>

namespace bantam::serve {
namespace {

constexpr size_t kMostMethod = 32, kMostChunkLine = 256, kMostChunkDigits = 8;
constexpr uint64_t kMostLengthDigits = 18;

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return small(x) == small(y); });
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char l = small(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

/// Returns true for a token of RFC 9110, 5.6.2.
bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_digit(c) || (small(c) >= 'a' && small(c) <= 'z') || kMarks.find(c) != kMarks.npos;
  });
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Returns true if a comma-separated list contains the word.
bool has_word(std::string_view list, std::string_view word) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (same_word(trimmed(list.substr(begin, end - begin)), word)) return true;
    begin = end + 1;
  }
  return false;
}

bool is_host(std::string_view host) {
  constexpr std::string_view kMarks = ".-_:[]~%";
  return std::all_of(host.begin(), host.end(), [&](char c) {
    return is_digit(c) || (small(c) >= 'a' && small(c) <= 'z') || kMarks.find(c) != kMarks.npos;
  });
}

}  // namespace

std::string host_name(std::string_view host) {
  const size_t scheme = host.find("://");
  if (scheme != host.npos) host.remove_prefix(scheme + 3);
  if (!host.empty() && host.front() == '[') {
    const size_t end = host.find(']');
    host = end == host.npos ? std::string_view() : host.substr(1, end - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  std::string name(host);
  std::transform(name.begin(), name.end(), name.begin(), small);
  return name;
}

void RequestReader::refuse(int code, const char* why) {
  state_ = State::kRefused;
  code_ = code;
  why_ = why;
}

bool RequestReader::put(std::string& line, char c) {
  const bool behind_return = !line.empty() && line.back() == '\r';
  const auto byte = static_cast<unsigned char>(c);
  const bool control = (byte < 0x20 && c != '\t' && c != '\r' && c != '\n') || byte == 0x7F;
  if (control || behind_return != (c == '\n')) {
    refuse(400, control ? "a line of the head holds a control character" : "a line does not end with CR and LF");
    return false;
  }
  line.push_back(c);
  return true;
}

size_t RequestReader::take(std::string_view bytes) {
  switch (state_) {
    case State::kHead:
      return take_head(bytes);
    case State::kBody:
      return head_.chunked ? take_chunks(bytes) : take_body(bytes);
    default:
      return 0;
  }
}

size_t RequestReader::take_head(std::string_view bytes) {
  size_t used = 0;
  while (used < bytes.size() && state_ == State::kHead && put(head_text_, bytes[used])) {
    if (bytes[used++] != '\n') {
      if (head_text_.size() > most_head_) refuse(431, "the head is too long");
      continue;
    }
    const bool empty = head_text_.size() == line_ + 2;
    line_ = head_text_.size();
    if (!empty) continue;
    if (line_ == 2 && !skipped_) {  // one empty line before a request is ignored (RFC 9112, 2.2)
      skipped_ = true;
    } else {
      read_head();
    }
    head_text_.clear();
    line_ = 0;
  }
  return used;
}

void RequestReader::read_head() {
  std::string_view rest = head_text_;
  if (rest == "\r\n") return refuse(400, "the request's line is empty");
  for (bool first = true; state_ == State::kHead; first = false) {
    const size_t end = rest.find("\r\n");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    if (line.empty()) break;
    first ? read_request_line(line) : read_field(line);
  }
  if (state_ == State::kHead) check_framing();
}

void RequestReader::read_request_line(std::string_view line) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  const bool three = first != line.npos && last > first;
  const std::string_view version = three ? line.substr(last + 1) : std::string_view();
  const std::string_view method = line.substr(0, first);
  const bool http = version.size() == 8 && version.substr(0, 5) == "HTTP/" && is_digit(version[5]) &&
                    version[6] == '.' && is_digit(version[7]);
  if (!http || !is_token(method) || method.size() > kMostMethod) {
    return refuse(400, "the first line is not a method, path and version of HTTP");
  }
  if (version[5] != '1') return refuse(505, "the version of HTTP is neither 1.1 nor 1.0");
  old_ = version[7] == '0';
  head_.keeps_open = !old_;
  head_.old = old_;
  head_.method = method;
  read_target(line.substr(first + 1, last - first - 1));
}

void RequestReader::read_target(std::string_view target) {
  const bool printable = std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (!printable || target.empty() || target.find('#') != target.npos) {
    return refuse(400, "the path holds a character that is to be written as %XX");
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_word(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const size_t end = std::min(target.find_first_of("/?"), target.size());
    head_.host = target.substr(0, end);
    absolute_ = true;
    if (head_.host.empty() || !is_host(head_.host)) return refuse(400, "the target names no host");
    target.remove_prefix(end);
    if (target.empty() || target.front() == '?') target = "/";
    break;
  }
  target = target.substr(0, target.find('?'));
  if (target != "*" && (target.empty() || target.front() != '/')) return refuse(400, "the path does not begin with /");
  for (size_t i = 0; i < target.size(); ++i) {
    char c = target[i];
    if (c == '%') {
      const int high = i + 2 < target.size() ? hex_digit(target[i + 1]) : -1;
      const int low = high < 0 ? -1 : hex_digit(target[i + 2]);
      const int byte = low < 0 ? 0 : high * 16 + low;
      if (byte < 0x20 || byte == 0x7F)
        return refuse(400, "the path holds % without two digits, or a control character");
      c = static_cast<char>(byte);
      i += 2;
    }
    head_.path.push_back(c);
  }
}

void RequestReader::read_field(std::string_view line) {
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  // Refuses blanks before the colon, and at the start of a line, where they would continue the previous line (RFC 9112,
  // 5.1 and 5.2).
  if (colon == line.npos || !is_token(name)) {
    return refuse(400, "a line of the head is not a name, colon and value without a blank before the colon");
  }
  const std::string_view value = trimmed(line.substr(colon + 1));
  const auto is = [&](std::string_view known) { return same_word(name, known); };
  const auto once = [&](std::optional<std::string>& field) {
    if (field) return refuse(400, "Origin or Authorization stands there twice");
    field = std::string(value);
  };
  if (is("Host")) {
    ++hosts_;
    if (!is_host(value)) return refuse(400, "Host holds a character that no name has");
    if (!absolute_) head_.host = value;
  } else if (is("Content-Length")) {
    ++lengths_;
    bad_length_ =
        value.empty() || value.size() > kMostLengthDigits || !std::all_of(value.begin(), value.end(), is_digit);
    uint64_t length = 0;
    for (const char c : value) length = bad_length_ ? 0 : length * 10 + static_cast<uint64_t>(c - '0');
    head_.length = length;
  } else if (is("Transfer-Encoding")) {
    ++encodings_;
    bad_encoding_ = bad_encoding_ || !same_word(value, "chunked");
  } else if (is("Connection")) {
    if (has_word(value, "close")) head_.keeps_open = false;
    if (old_ && has_word(value, "keep-alive")) head_.keeps_open = true;
  } else if (is("Expect")) {
    head_.waits_to_send = same_word(value, "100-continue");
    bad_expectation_ = bad_expectation_ || !head_.waits_to_send;
  } else if (is("Origin")) {
    once(head_.origin);
  } else if (is("Authorization")) {
    once(head_.authorization);
  }
}

/// Checks how the length of the body is given (RFC 9112, 6.1 and 6.3) and the host (3.2).
void RequestReader::check_framing() {
  if (hosts_ > 1 || (hosts_ == 0 && !old_)) return refuse(400, "there must be one Host");
  if (lengths_ > 1) return refuse(400, "there is more than one Content-Length; send one");
  if (bad_length_) return refuse(400, "Content-Length is not a number of bytes in digits");
  if (encodings_ > 0 && lengths_ > 0) {
    return refuse(400, "Content-Length and Transfer-Encoding exclude each other; send one");
  }
  if (encodings_ > 1 || bad_encoding_) {
    return refuse(400, "Transfer-Encoding is something else than chunked; send that, or Content-Length");
  }
  if (encodings_ > 0 && old_) return refuse(400, "Transfer-Encoding needs HTTP/1.1");
  if (bad_expectation_) return refuse(417, "Expect is something else than 100-continue");
  if (head_.length.value_or(0) > most_body_) {
    return refuse(413, "the body is larger than --max-body allows; send fewer texts at a time");
  }
  head_.chunked = encodings_ > 0;
  head_.waits_to_send = head_.waits_to_send && !old_ && (head_.chunked || head_.length.value_or(0) > 0);
  state_ = State::kAtBody;
}

void RequestReader::read_body() {
  left_ = head_.length.value_or(0);
  chunk_ = Chunk::kSize;
  state_ = head_.chunked || left_ != 0 ? State::kBody : State::kDone;
}

size_t RequestReader::take_body(std::string_view bytes) {
  const auto size = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
  body_.append(bytes.substr(0, size));
  left_ -= size;
  if (left_ == 0) state_ = State::kDone;
  return size;
}

/// Reads chunks by RFC 9112, 7.1. Extensions and trailers are ignored.
size_t RequestReader::take_chunks(std::string_view bytes) {
  size_t used = 0;
  while (used < bytes.size() && state_ == State::kBody) {
    if (chunk_ == Chunk::kData) {
      const auto size = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size() - used));
      body_.append(bytes.substr(used, size));
      used += size;
      left_ -= size;
      if (left_ == 0) chunk_ = Chunk::kEnd;
      continue;
    }
    const char c = bytes[used++];
    if (chunk_ == Chunk::kEnd && c != '\r' && c != '\n') {
      refuse(400, "a chunk is longer than its size says");
    } else if (put(chunk_line_, c)) {
      if (c == '\n') {
        take_chunk_line();
        chunk_line_.clear();
      } else if (chunk_line_.size() > (chunk_ == Chunk::kTrailer ? most_head_ : kMostChunkLine)) {
        refuse(chunk_ == Chunk::kTrailer ? 431 : 400, "a line of the chunks is too long");
      }
    }
  }
  return used;
}

void RequestReader::take_chunk_line() {
  const std::string_view line = std::string_view(chunk_line_).substr(0, chunk_line_.size() - 2);
  if (chunk_ == Chunk::kEnd) {
    chunk_ = Chunk::kSize;
  } else if (chunk_ == Chunk::kTrailer) {
    trailers_ += chunk_line_.size();
    if (line.empty()) state_ = State::kDone;
    if (trailers_ > most_head_) refuse(431, "what follows the chunks is too long");
  } else {
    const std::string_view digits = line.substr(0, line.find(';'));
    uint64_t size = 0;
    bool right = !digits.empty() && digits.size() <= kMostChunkDigits;
    for (const char c : digits) {
      right = right && hex_digit(c) >= 0;
      if (right) size = size * 16 + static_cast<uint64_t>(hex_digit(c));
    }
    if (!right) return refuse(400, "a chunk's size is not a number in hexadecimal digits");
    if (size > most_body_ - body_.size()) {
      return refuse(413, "the body is larger than --max-body allows; send fewer texts at a time");
    }
    left_ = size;
    chunk_ = size == 0 ? Chunk::kTrailer : Chunk::kData;
  }
}

void RequestReader::next() {
  const size_t most_head = most_head_, most_body = most_body_;
  *this = RequestReader(most_head, most_body);
}

}  // namespace bantam::serve
