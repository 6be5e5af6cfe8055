// version: describes this build and what this machine can run.
#include <memory>

#include "bantam/session.h"
#include "cli/commands.h"
#include "cli/frame/build_info.h"
#include "cli/frame/command.h"
#include "cli/frame/output.h"
#include "format/header.h"
#include "graph/task_parts.h"
#include "network/family.h"

namespace bantam::cli {
namespace {

constexpr size_t kIndent = 17;  // the column at which texts begin after their names

Json families_json() {
  Json list = Json::array();
  for (const convert::Family& family : convert::families()) {
    Json tasks = Json::array();
    for (uint32_t task = 0; task < 32; ++task) {
      if ((family.tasks() >> task & 1u) != 0) tasks.push_back(convert::typed_name(static_cast<TaskKind>(task)));
    }
    for (const char* name : family.model_types) list.push_back({{"model_type", name}, {"tasks", tasks}});
  }
  return list;
}

/// Prints the model types that `convert` accepts, and the tasks for which each has heads.
void print_families(bool json) {
  const Json list = families_json();
  if (json) {
    Json object = json_object("families");
    object.update({{"version", kVersion}, {"families", list}});
    return out().line(object);
  }
  for (const Json& family : list) {
    print_entry(family["model_type"].get<std::string>(), kIndent, plain_form(family["tasks"]));
  }
}

void print_version(bool json) {
  const std::string format = fmt::format("{}.{}", kMajorVersion, kMinorVersion);
  if (json) {
    Json object = json_object("version");
    object["version"] = kVersion;
    object["format"] = format;
    object["compiler"] = kCompiler;
    object["build"] = kBuildType;
    object["isa"] = Json::array();
    for (const Isa isa : kInstructionSets)
      object["isa"].push_back({{"name", isa_name(isa)}, {"available", isa_available(isa)}});
    object["best_isa"] = isa_name(best_isa());
    out().line(object);
    return;
  }
  out().print("bantam {}\n", kVersion);
  out().print("file format      {}\n", format);
  out().print("compiler         {}\n", kCompiler);
  out().print("build            {}\n", kBuildType);
  std::string sets;
  for (const Isa isa : kInstructionSets) {
    sets += fmt::format("{}{}{}", sets.empty() ? "" : ", ", isa_name(isa), isa_available(isa) ? "" : " (not here)");
  }
  print_entry("instruction sets", kIndent, sets);
  out().print("chosen           {}\n", isa_name(best_isa()));
}

}  // namespace

void add_version(Program& program) {
  Command& command = program.add_command("version", "Print version, build and instruction sets", kAboutGroup);
  auto json = std::make_shared<bool>(false);
  auto list = std::make_shared<bool>(false);
  command.add_flag("--families", *list,
                   "List the model families that convert: model_type of config.json, and the tasks of each");
  command.add_flag("--json", *json, "Print one JSON object");
  command.footer("Examples:\n  bantam version\n  bantam version --families\n  bantam version --json");
  command.action([json, list] { *list ? print_families(*json) : print_version(*json); });
}

}  // namespace bantam::cli
