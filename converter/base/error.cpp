#include "base/error.h"

namespace bantam::convert {

Error::Error(ExitCode code, std::vector<std::string> problems) : code_(code), problems_(std::move(problems)) {
  for (const std::string& problem : problems_) {
    if (!what_.empty()) what_ += '\n';
    what_ += problem;
  }
}

void Problems::note(ExitCode code) {
  if (static_cast<int>(code) < static_cast<int>(code_)) code_ = code;
}

void Problems::add(ExitCode code, std::string problem) {
  note(code);
  groups_.push_back({{std::move(problem), "", "", "", ""}, {}, 1});
}

void Problems::add(ExitCode code, SharedProblem problem) {
  constexpr size_t kShown = 3;
  note(code);
  std::string name = '"' + problem.name + '"' + problem.detail;
  for (Group& group : groups_) {
    const SharedProblem& first = group.first;
    if (first.before != problem.before || first.kind != problem.kind || first.cause != problem.cause) continue;
    ++group.count;
    if (group.names.size() < kShown) group.names.push_back(std::move(name));
    return;
  }
  groups_.push_back({std::move(problem), {std::move(name)}, 1});
}

std::string Problems::text(const Group& group) {
  if (group.count == 1) {
    const std::string name = group.names.empty() ? "" : ' ' + group.names.front();
    return group.first.before + group.first.kind + name + group.first.cause;
  }
  std::string list;
  for (size_t i = 0; i < group.names.size(); ++i) {
    const bool last = i + 1 == group.count;
    list += (i == 0 ? "" : last ? " and " : ", ") + group.names[i];
  }
  if (group.count > group.names.size()) list += " and " + std::to_string(group.count - group.names.size()) + " more";
  return group.first.before + std::to_string(group.count) + ' ' + group.first.kind + "s: " + list + group.first.cause;
}

void Problems::raise() const {
  if (groups_.empty()) return;
  std::vector<std::string> texts;
  texts.reserve(groups_.size());
  for (const Group& group : groups_) texts.push_back(text(group));
  throw Error(code_, std::move(texts));
}

}  // namespace bantam::convert
