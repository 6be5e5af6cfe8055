#include "search/chunker.h"

#include <algorithm>

#include "base/fail.h"
#include "base/status_error.h"
#include "base/strings.h"

namespace bantam::convert {
namespace {

constexpr const char* kBlanks = " \t\r\n";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Returns true if a word begins with token `i`.
bool begins_word(const std::string& text, const std::vector<Offset>& tokens, size_t i) {
  const uint32_t at = tokens[i].begin;
  return at == 0 || is_blank(text[at - 1]) || (at < text.size() && is_blank(text[at]));
}

/// Returns the last token in (least, from] with which a word begins; `from` if there is none.
size_t word_before(const std::string& text, const std::vector<Offset>& tokens, size_t from, size_t least) {
  for (size_t i = from; i > least; --i) {
    if (begins_word(text, tokens, i)) return i;
  }
  return from;
}

}  // namespace

Chunker::Chunker(const ModelFile& file, TextRole role, uint32_t stride)
    : path_(file.path()), prompt_(to_string(text_prompt(file.model(), role))), stride_(stride) {
  if (Tokenizer::open(file.model(), 0, &tokenizer_) != Status::kOk)
    fail(ExitCode::kUsage, "--stride: {} has no tokenizer, so that nothing is cut in tokens; leave it out", path_);
  most_ = text_limit(file.model());
  if (most_ == 0) return;
  const auto others = tokenizer_.special_count(false) + static_cast<uint32_t>(tokens_of(prompt_).size());
  size_ = most_ > others ? most_ - others : 0;
  if (stride_ >= size_)
    fail(ExitCode::kUsage, "--stride {}: chunks of {} tokens cannot share that many; use a smaller --stride", stride_,
         size_);
}

bool Chunker::fits(std::string_view text) const {
  if (most_ == 0) return true;
  const std::string whole = prompt_ + std::string(text);
  std::vector<int32_t> ids(most_);
  TokenBuffer buffer;
  buffer.ids = ids.data();
  buffer.capacity = most_;
  EncodeOptions options;
  options.max_tokens = most_;
  EncodeResult result;
  check(tokenizer_.encode({whole.data(), whole.size()}, {}, options, buffer, &result), path_);
  return !result.truncated;
}

std::vector<Offset> Chunker::tokens_of(std::string_view text) const {
  std::vector<int32_t> ids(text.size() + 1);
  std::vector<Offset> tokens(ids.size());
  EncodeOptions options;
  options.add_special = false;
  EncodeResult result;
  for (;;) {
    TokenBuffer buffer;
    buffer.ids = ids.data();
    buffer.offsets = tokens.data();
    buffer.capacity = options.max_tokens = static_cast<uint32_t>(ids.size());
    check(tokenizer_.encode({text.data(), text.size()}, {}, options, buffer, &result), path_);
    if (result.content[0] <= ids.size()) break;
    ids.resize(result.content[0]);  // one character may become several tokens
    tokens.resize(ids.size());
  }
  tokens.resize(result.count);
  return tokens;
}

std::string_view Chunker::part(const std::string& text, const std::vector<Offset>& tokens, size_t begin,
                               size_t end) const {
  const size_t from = begin == 0 ? 0 : tokens[begin].begin;
  const size_t to = end == tokens.size() ? text.size() : tokens[end].begin;
  std::string_view found = std::string_view(text).substr(from, to > from ? to - from : 0);
  found.remove_prefix(std::min(found.find_first_not_of(kBlanks), found.size()));
  return found.substr(0, found.find_last_not_of(kBlanks) + 1);
}

std::vector<std::string> Chunker::cut(const std::string& text) const {
  if (fits(text)) return {text};
  const std::vector<Offset> tokens = tokens_of(text);
  std::vector<std::string> chunks;
  for (size_t begin = 0;;) {
    size_t end = std::min(begin + size_, tokens.size());
    if (end < tokens.size()) end = word_before(text, tokens, end, begin + size_ / 2);
    std::string_view chunk = part(text, tokens, begin, end);
    // The tokens of a part may be more than those that it has in the text.
    while (end > begin + 1 && !fits(chunk)) {
      end = word_before(text, tokens, end - 1, begin);
      chunk = part(text, tokens, begin, end);
    }
    if (!chunk.empty()) chunks.emplace_back(chunk);
    if (end == tokens.size()) break;
    const size_t next = end > begin + stride_ ? end - stride_ : begin + 1;
    begin = next > begin + 1 ? word_before(text, tokens, next, begin) : next;
  }
  if (chunks.empty()) chunks.push_back(text);
  return chunks;
}

}  // namespace bantam::convert
