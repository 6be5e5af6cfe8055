#include "graph/task_parts.h"

#include <algorithm>
#include <vector>

namespace bantam::convert {

const char* task_name(TaskKind kind) {
  const char* name = fb::EnumNameTaskKind(static_cast<fb::TaskKind>(kind));
  return *name == 0 ? "unknown" : name;
}

std::string typed_name(TaskKind kind) {
  if (kind == TaskKind::kNone) return "encoder";
  std::string name = task_name(kind);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::optional<TaskKind> parse_task(const std::string& name) {
  for (const fb::TaskKind kind : fb::EnumValuesTaskKind()) {
    if (typed_name(static_cast<TaskKind>(kind)) == name) return static_cast<TaskKind>(kind);
  }
  return std::nullopt;
}

std::string task_list(uint32_t tasks) {
  std::vector<std::string> names;
  for (const fb::TaskKind kind : fb::EnumValuesTaskKind()) {
    if ((tasks >> static_cast<uint32_t>(kind) & 1u) != 0) names.push_back(typed_name(static_cast<TaskKind>(kind)));
  }
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 == names.size() ? " and " : ", ";
    list += names[i];
  }
  return list;
}

}  // namespace bantam::convert
