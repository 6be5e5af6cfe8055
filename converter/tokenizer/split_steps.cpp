// Builds the steps of a split pattern backwards, so that each part knows the step that follows it.
#include "tokenizer/split_steps.h"

#include <stdexcept>

namespace bantam::convert {
namespace {

using Syntax = PatternNode::Kind;

constexpr uint32_t kMaxSteps = 4096;

SplitStep::Do step_of(Syntax kind) {
  if (kind == Syntax::kSet) return SplitStep::Do::kTake;
  return kind == Syntax::kNext ? SplitStep::Do::kNext : SplitStep::Do::kNotNext;
}

}  // namespace

SplitSteps::SplitSteps(const PatternNode& pattern) {
  const uint32_t match = add({});
  start = build(pattern, match);
}

uint32_t SplitSteps::add(const SplitStep& step) {
  if (steps.size() >= kMaxSteps) throw std::invalid_argument("the pattern is too large");
  steps.push_back(step);
  return static_cast<uint32_t>(steps.size() - 1);
}

uint32_t SplitSteps::build(const PatternNode& node, uint32_t next) {
  switch (node.kind) {
    case Syntax::kSet:
    case Syntax::kNext:
    case Syntax::kNotNext:
      sets.push_back(node.set);
      return add({step_of(node.kind), static_cast<uint32_t>(sets.size() - 1), next, 0});
    case Syntax::kAll:
      for (size_t i = node.parts.size(); i-- > 0;) next = build(*node.parts[i], next);
      return next;
    case Syntax::kAny: {
      uint32_t step = build(*node.parts.back(), next);
      for (size_t i = node.parts.size() - 1; i-- > 0;) {
        const uint32_t first = build(*node.parts[i], next);
        step = add({SplitStep::Do::kFork, 0, first, step});
      }
      return step;
    }
    case Syntax::kRepeat:
      break;
  }
  uint32_t step = next;
  if (node.most == PatternNode::kEndless) {
    step = add({SplitStep::Do::kFork, 0, 0, next});
    const uint32_t inside = build(*node.parts[0], step);
    steps[step].first = inside;
  } else {
    for (uint32_t i = node.least; i < node.most; ++i) {
      const uint32_t inside = build(*node.parts[0], step);
      step = add({SplitStep::Do::kFork, 0, inside, next});
    }
  }
  for (uint32_t i = 0; i < node.least; ++i) step = build(*node.parts[0], step);
  return step;
}

SplitSteps::List SplitSteps::follow(const CodeClasses& classes, const List& list, uint32_t c, bool* match) const {
  List after;
  std::vector<bool> seen(steps.size(), false), added(steps.size(), false);
  *match = false;
  for (const uint32_t first : list) {
    // Follow the steps of a fork in the order of preference; steps after a match are ignored.
    List open = {first};
    while (!open.empty() && !*match) {
      const uint32_t at = open.back();
      open.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      const SplitStep& step = steps[at];
      switch (step.what) {
        case SplitStep::Do::kMatch:
          *match = true;
          break;
        case SplitStep::Do::kFork:
          open.push_back(step.second);
          open.push_back(step.first);
          break;
        case SplitStep::Do::kNext:
        case SplitStep::Do::kNotNext:
          if (classes.has(c, step.set) == (step.what == SplitStep::Do::kNext)) open.push_back(step.first);
          break;
        case SplitStep::Do::kTake:
          if (classes.has(c, step.set) && !added[step.first]) {
            added[step.first] = true;
            after.push_back(step.first);
          }
          break;
      }
    }
    if (*match) break;
  }
  return after;
}

bool SplitSteps::matches_surely(const List& list) const {
  std::vector<bool> seen(steps.size(), false);
  List open = list;
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    if (steps[at].what == SplitStep::Do::kMatch) return true;
    if (steps[at].what != SplitStep::Do::kFork) continue;
    open.push_back(steps[at].first);
    open.push_back(steps[at].second);
  }
  return false;
}

}  // namespace bantam::convert
