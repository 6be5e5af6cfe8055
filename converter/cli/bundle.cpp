// bundle: makes a program that runs one command on one file.
#include <memory>
#include <string_view>

#include "bantam/host.h"
#include "base/output_file.h"
#include "base/readable.h"
#include "cli/answer/beside.h"
#include "cli/answer/engine.h"
#include "cli/answer/run.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "format/bundle.h"
#include "format/elf_program.h"

namespace bantam::cli {
namespace {

constexpr const char* kRunner = "bantam-app";

struct BundleArguments {
  std::string model, output, runner, command;
  bool json = false;
};

std::string_view view_of(const host::MappedFile& file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

std::string runner_path(const std::string& given) {
  if (!given.empty()) return given;
  std::string path = beside(kRunner).string();
  if (!path.empty()) return path;
  fail(ExitCode::kUnsupported,
       "bundle: {} is missing beside this bantam; build it (cmake --build, target bantam_app), or name one by --runner",
       kRunner);
}

/// Opens the program that is to carry a model. Throws if the program cannot.
convert::ElfProgram open_runner(const std::string& path, host::MappedFile* file) {
  const char* reason = "";
  if (file->open(path.c_str(), &reason) != Status::kOk) {
    fail(ExitCode::kIo, "--runner {}: {}", path, reason);
  }
  const auto program = convert::read_elf(file->data(), file->size());
  if (!program || !program->runner) {
    fail(ExitCode::kInvalid,
         "--runner {}: not a program that runs a model behind it; {} of bantam, of this or another machine, is", path,
         kRunner);
  }
  if (*program->runner != convert::kRunnerVersion) {
    fail(ExitCode::kUnsupported, "--runner {}: of another version of bantam; take the {} that was built with this one",
         path, kRunner);
  }
  if (convert::has_trailer(file->data(), file->size())) {
    fail(ExitCode::kInvalid, "--runner {}: has a model already; take {} itself", path, kRunner);
  }
  return *program;
}

/// Returns the command of the app: --as, if it suits the file's task, or the usual one. Throws otherwise.
std::string command_of(const BundleArguments& arguments, const Model& model) {
  std::string usual = usual_command(model);
  if (arguments.command.empty()) return usual;
  const uint32_t parts = traits(model.task()).parts;
  const std::string& asked = arguments.command;
  const bool any = asked == "run" || asked == "tokenize" || asked == "rank";
  if (any || (makes_text(asked) ? (parts & kNextWordsPart) != 0 : fits_command(asked, parts))) return asked;
  fail(ExitCode::kUnsupported, "--as {}: {} is for the task \"{}\"; leave the option out: the app is then {}", asked,
       arguments.model, task_name(model.task()), usual);
}

void run_bundle(const BundleArguments& arguments) {
  const std::string path = runner_path(arguments.runner);
  convert::refuse_input_as_output(arguments.output, {arguments.model, path});
  convert::OutputFile output(arguments.output, convert::OutputFile::Kind::kProgram);
  host::MappedFile runner;
  const convert::ElfProgram program = open_runner(path, &runner);
  const ModelFile file(arguments.model);
  const std::string command = command_of(arguments, file.model());
  const std::string_view model(reinterpret_cast<const char*>(file.model().bytes()), static_cast<size_t>(file.size()));
  const convert::BundleParts bundle(view_of(runner), model, command);
  output.commit(bundle.parts());
  const std::string machine = convert::machine_name(program.machine);
  Json record = json_object("bundle");
  record.update({{"app", arguments.output}, {"command", command}, {"machine", machine}, {"bytes", bundle.size()}});
  record.update({{"runner_bytes", runner.size()}, {"model_bytes", file.size()}});
  print_result(arguments.json, record,
               fmt::format("{}: {}, {} of which are the model; {}, on {}\n", printable(arguments.output),
                           readable_bytes(bundle.size()), readable_bytes(file.size()), command, machine));
}

}  // namespace

void add_bundle(Program& program) {
  Command& command = program.add_command("bundle", "Pack a model and its command into one program", kMakeGroup);
  auto arguments = std::make_shared<BundleArguments>();
  command.add_option("FILE", arguments->model, "FILE.bantam", "A .bantam file").required();
  command.add_option("-o,--output", arguments->output, "FILE", "Program to write").required();
  Program apps("bantam", "");
  add_app_commands(apps);
  Words names;
  for (const Command& app : apps.commands) names.push_back(app.name());
  command.add_option("--as", arguments->command, "COMMAND",
                     "Command that the program runs (default: the one for the model's task, such as classify, "
                     "tag, embed or generate)",
                     one_of(names));
  command.add_option("--runner", arguments->runner, "FILE",
                     "Program that carries the model, such as bantam-app from another machine's build (default: "
                     "the one next to this command)");
  command.add_flag("--json", arguments->json, "Print one JSON object");
  command.footer(
      "The program needs no other file and no library; you can copy and rename it. It takes the "
      "options of its command and prints the same bytes. Other commands read it like a .bantam "
      "file. Do not strip it: stripping removes the model.\n\n"
      "Examples:\n"
      "  bantam bundle voice.bantam -o voice\n"
      "  ./voice \"play some jazz by miles davis\"\n"
      "  bantam bundle minilm.bantam -o similar --as similar\n"
      "  # show what it contains\n"
      "  bantam inspect ./voice");
  command.action([arguments] { run_bundle(*arguments); });
}

}  // namespace bantam::cli
