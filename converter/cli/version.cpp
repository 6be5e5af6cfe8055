// version: what this build is and what this machine can run.
#include <CLI/CLI.hpp>
#include <memory>

#include "bantam/session.h"
#include "cli/build_info.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "format/header.h"

namespace bantam::cli {
namespace {

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
  out().print("instruction sets {}\n", sets);
  out().print("chosen           {}\n", isa_name(best_isa()));
}

}  // namespace

void add_version(CLI::App& app) {
  CLI::App* command = app.add_subcommand("version", "Print version, build and instruction sets");
  command->group(kAboutGroup);
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print one JSON object");
  command->footer("Examples:\n  bantam version\n  bantam version --json");
  command->callback([json] { print_version(*json); });
}

}  // namespace bantam::cli
