#include "run/long_text.h"

#include <algorithm>

#include "base/status_error.h"

namespace bantam::convert {

LongText::LongText(const Tokenizer& tokenizer, Text first, Text second, const EncodeResult& all,
                   const std::vector<Mention>& mentions, size_t before)
    : pair_(second.data != nullptr), windowed_(pair_ ? 1 : 0), mentions_(mentions), before_(pair_ ? 0 : before) {
  const uint64_t sum = uint64_t{all.content[0]} + all.content[1];
  check(sum <= UINT32_MAX ? Status::kOk : Status::kTextTooLong, "sliding windows");
  const auto tokens = static_cast<size_t>(sum);
  ids_.resize(tokens);
  offsets_.resize(tokens);
  std::vector<uint8_t> sequences(tokens);
  EncodeOptions options;
  options.add_special = false;
  options.truncation = TruncationSide::kNone;
  options.max_tokens = static_cast<uint32_t>(tokens);
  const TokenBuffer buffer = {ids_.data(), nullptr, offsets_.data(), sequences.data(), options.max_tokens};
  EncodeResult result;
  check(tokenizer.encode(first, second, options, buffer, &result), "sliding windows");
  // A template may place the second text first.
  for (uint32_t which = 0; which < 2; ++which) {
    const auto begin = std::find(sequences.begin(), sequences.end(), which) - sequences.begin();
    texts_[which] = {ids_.data() + begin, offsets_.data() + begin, result.content[which]};
  }
  for (uint32_t i = 0; i < mentions.size(); ++i) {
    const bool slides = (mentions[i].second ? 1U : 0U) == windowed_;
    (slides ? by_begin_ : others_).push_back(i);
    if (slides) longest_ = std::max(longest_, mentions[i].end - mentions[i].begin);
  }
  std::sort(by_begin_.begin(), by_begin_.end(),
            [&](uint32_t a, uint32_t b) { return mentions[a].begin < mentions[b].begin; });
}

Status LongText::add(Session& session, const EncodeOptions& options) const {
  return session.add(texts_[0], pair_ ? &texts_[1] : nullptr, options);
}

std::vector<Mention> LongText::mentions_in(const Session& session) const {
  if (mentions_.empty()) return {};
  // The bytes of the window, relative to the beginning of the session's text.
  const EncodedSequence window = session.sequence(session.sequence_count() - 1);
  uint64_t begin = UINT64_MAX, end = 0;
  for (uint32_t row = 0; row < window.row_count; ++row) {
    if (window.sequences[row] != windowed_) continue;
    begin = std::min<uint64_t>(begin, window.offsets[row].begin);
    end = std::max<uint64_t>(end, window.offsets[row].end);
  }
  std::vector<uint32_t> numbers = others_;
  auto at = std::lower_bound(by_begin_.begin(), by_begin_.end(), begin,
                             [&](uint32_t i, uint64_t byte) { return mentions_[i].begin + before_ + longest_ < byte; });
  for (; at != by_begin_.end() && mentions_[*at].begin + before_ < end; ++at) {
    if (mentions_[*at].end + before_ > begin) numbers.push_back(*at);
  }
  std::sort(numbers.begin(), numbers.end());
  std::vector<Mention> found;
  found.reserve(numbers.size());
  for (const uint32_t i : numbers) found.push_back(mentions_[i]);
  return found;
}

}  // namespace bantam::convert
