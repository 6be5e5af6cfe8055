#include "tokenizer/split_pattern.h"

#include <map>
#include <stdexcept>

#include "text/split_table.h"
#include "tokenizer/split_steps.h"
#include "tokenizer/unicode/code_classes.h"

namespace bantam::convert {
namespace {

/// The states: lists of steps that may come next, in the order of preference.
class States {
 public:
  std::vector<uint16_t> next;

  States(const SplitSteps& steps, const CodeClasses& classes)
      : next(size_t{2} * (classes.count() + 1), 0), steps_(steps), classes_(classes), stride_(classes.count() + 1) {
    lists_ = {{}, {steps.start}};
    numbers_[lists_[1]] = 1;
    for (size_t state = 1; state < lists_.size(); ++state) {
      for (uint32_t c = 0; c < stride_; ++c) next[state * stride_ + c] = follow(state, c);
    }
  }

  uint32_t stride() const { return stride_; }
  uint32_t count() const { return static_cast<uint32_t>(lists_.size()); }

 private:
  using List = SplitSteps::List;

  uint16_t follow(size_t state, uint32_t c) {
    bool match = false;
    const List after = steps_.follow(classes_, List(lists_[state]), c, &match);
    return static_cast<uint16_t>(number_of(after) * stride_ | (match ? text::kSplitMatch : 0));
  }

  uint32_t number_of(const List& list) {
    if (list.empty()) return 0;
    const auto [found, is_new] = numbers_.emplace(list, static_cast<uint32_t>(lists_.size()));
    if (is_new) {
      lists_.push_back(list);
      next.resize(lists_.size() * stride_, 0);
      if (lists_.size() > text::kMaxSplitStates || next.size() >= text::kMaxSplitEntries) {
        throw std::invalid_argument("the pattern needs too many states");
      }
    }
    return found->second;
  }

  const SplitSteps& steps_;
  const CodeClasses& classes_;
  uint32_t stride_;
  std::vector<List> lists_;
  std::map<List, uint32_t> numbers_;
};

}  // namespace

const char* const kByteLevelPattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const char* const kWholeTextPattern = "[\\s\\S]+";

SplitStates compile_states(const PatternNode& pattern, const CodeSet& last) {
  const SplitSteps steps(pattern);
  const CodeClasses classes(steps.sets, last);
  States states(steps, classes);
  SplitStates out;
  out.stride = states.stride();
  out.count = states.count();
  out.next = std::move(states.next);
  out.class_of = classes.all();
  out.first_of_last = classes.first_of_last();
  return out;
}

}  // namespace bantam::convert
