#include "tokenizer/split_pattern.h"

#include <map>
#include <set>
#include <stdexcept>

#include "text/split_table.h"
#include "tokenizer/code_classes.h"

namespace bantam::convert {
namespace {

using Syntax = PatternNode::Kind;

constexpr uint32_t kMaxThreads = 4096;

/// One step of the pattern.
struct Step {
  enum class Do { kTake, kNotNext, kFork, kMatch };
  Do what = Do::kMatch;
  uint32_t set = 0;     // kTake, kNotNext
  uint32_t first = 0;   // where it goes on; kFork: what is preferred
  uint32_t second = 0;  // kFork
};

/// The pattern as steps. Building goes backwards: each part knows the step that follows it.
class Steps {
 public:
  std::vector<Step> steps;
  std::vector<CodeSet> sets;
  uint32_t start = 0;

  explicit Steps(const PatternNode& pattern) {
    const uint32_t match = add({});
    start = build(pattern, match);
  }

 private:
  uint32_t add(const Step& step) {
    if (steps.size() >= kMaxThreads) throw std::invalid_argument("the pattern is too large");
    steps.push_back(step);
    return static_cast<uint32_t>(steps.size() - 1);
  }

  uint32_t build(const PatternNode& node, uint32_t next) {
    switch (node.kind) {
      case Syntax::kSet:
      case Syntax::kNotNext:
        sets.push_back(node.set);
        return add({node.kind == Syntax::kSet ? Step::Do::kTake : Step::Do::kNotNext,
                    static_cast<uint32_t>(sets.size() - 1), next, 0});
      case Syntax::kAll:
        for (size_t i = node.parts.size(); i-- > 0;) next = build(*node.parts[i], next);
        return next;
      case Syntax::kAny: {
        uint32_t step = build(*node.parts.back(), next);
        for (size_t i = node.parts.size() - 1; i-- > 0;) {
          const uint32_t first = build(*node.parts[i], next);
          step = add({Step::Do::kFork, 0, first, step});
        }
        return step;
      }
      case Syntax::kRepeat:
        break;
    }
    uint32_t step = next;
    if (node.most == PatternNode::kEndless) {
      step = add({Step::Do::kFork, 0, 0, next});
      const uint32_t inside = build(*node.parts[0], step);
      steps[step].first = inside;
    } else {
      for (uint32_t i = node.least; i < node.most; ++i) {
        const uint32_t inside = build(*node.parts[0], step);
        step = add({Step::Do::kFork, 0, inside, next});
      }
    }
    for (uint32_t i = 0; i < node.least; ++i) step = build(*node.parts[0], step);
    return step;
  }
};

/// The states: lists of steps, in the order of preference, of which each may come next.
class States {
 public:
  std::vector<uint16_t> next;

  States(const Steps& steps, const CodeClasses& classes)
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
  using List = std::vector<uint32_t>;

  uint16_t follow(size_t state, uint32_t c) {
    List after;
    std::vector<bool> seen(steps_.steps.size(), false);
    std::vector<bool> added(steps_.steps.size(), false);
    bool match = false;
    for (const uint32_t first : List(lists_[state])) {
      // What a step forks to is looked at in the order of preference; nothing counts behind a match.
      List open = {first};
      while (!open.empty() && !match) {
        const uint32_t at = open.back();
        open.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        const Step& step = steps_.steps[at];
        switch (step.what) {
          case Step::Do::kMatch:
            match = true;
            break;
          case Step::Do::kFork:
            open.push_back(step.second);
            open.push_back(step.first);
            break;
          case Step::Do::kNotNext:
            if (!classes_.has(c, step.set)) open.push_back(step.first);
            break;
          case Step::Do::kTake:
            if (classes_.has(c, step.set) && !added[step.first]) {
              added[step.first] = true;
              after.push_back(step.first);
            }
            break;
        }
      }
      if (match) break;
    }
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

  const Steps& steps_;
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
  const Steps steps(pattern);
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
