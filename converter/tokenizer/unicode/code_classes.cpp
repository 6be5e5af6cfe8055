#include "tokenizer/unicode/code_classes.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "text/split_table.h"

namespace bantam::convert {

CodeClasses::CodeClasses(const std::vector<CodeSet>& sets, const CodeSet& last) : code_class_(kCodePoints) {
  std::set<uint32_t> borders = {0};
  const auto add_borders = [&borders](const CodeSet& set) {
    for (const CodeRange& range : set.ranges()) {
      borders.insert(range.begin);
      borders.insert(range.end);
    }
  };
  for (const CodeSet& set : sets) add_borders(set);
  add_borders(last);
  borders.erase(kCodePoints);
  std::map<std::vector<bool>, uint8_t> known;
  for (auto border = borders.begin(); border != borders.end(); ++border) {
    std::vector<bool> members;
    members.reserve(sets.size() + 1);
    for (const CodeSet& set : sets) members.push_back(set.has(*border));
    members.push_back(last.has(*border));
    const auto [found, is_new] = known.emplace(members, static_cast<uint8_t>(known.size() + 1));
    if (is_new) {
      if (known.size() >= text::kMaxSplitStride) throw std::invalid_argument("the pattern has too many classes");
      members_.push_back(members);
    }
    const uint32_t end = std::next(border) == borders.end() ? kCodePoints : *std::next(border);
    std::fill(&code_class_[*border], code_class_.data() + end, found->second);
  }
  number_last();
}

void CodeClasses::number_last() {
  std::vector<uint8_t> numbers(members_.size() + 1);
  std::vector<std::vector<bool>> sorted;
  for (const bool last : {false, true}) {
    if (last) first_of_last_ = static_cast<uint32_t>(sorted.size() + 1);
    for (size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].back() != last) continue;
      sorted.push_back(members_[i]);
      numbers[i + 1] = static_cast<uint8_t>(sorted.size());
    }
  }
  members_ = std::move(sorted);
  for (uint8_t& number : code_class_) number = numbers[number];
}

}  // namespace bantam::convert
