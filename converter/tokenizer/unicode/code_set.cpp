#include "tokenizer/unicode/code_set.h"

#include <algorithm>

namespace bantam::convert {

void CodeSet::add(uint32_t begin, uint32_t end) {
  if (begin >= end) return;
  const auto first = std::lower_bound(ranges_.begin(), ranges_.end(), begin,
                                      [](const CodeRange& range, uint32_t code) { return range.end < code; });
  auto last = first;
  for (; last != ranges_.end() && last->begin <= end; ++last) {
    begin = std::min(begin, last->begin);
    end = std::max(end, last->end);
  }
  ranges_.insert(ranges_.erase(first, last), {begin, end});
}

void CodeSet::add(const CodeSet& other) {
  for (const CodeRange& range : other.ranges_) add(range.begin, range.end);
}

void CodeSet::complement() {
  std::vector<CodeRange> others;
  uint32_t begin = 0;
  for (const CodeRange& range : ranges_) {
    if (begin < range.begin) others.push_back({begin, range.begin});
    begin = range.end;
  }
  if (begin < kCodePoints) others.push_back({begin, kCodePoints});
  ranges_ = std::move(others);
}

bool CodeSet::has(uint32_t code) const {
  const auto found = std::upper_bound(ranges_.begin(), ranges_.end(), code,
                                      [](uint32_t value, const CodeRange& range) { return value < range.end; });
  return found != ranges_.end() && found->begin <= code;
}

}  // namespace bantam::convert
