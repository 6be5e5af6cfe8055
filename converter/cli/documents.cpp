// help, completion, man: commands that document the command line itself.
#include <filesystem>
#include <memory>

#include "base/output_file.h"
#include "cli/commands.h"
#include "cli/frame/appearance.h"
#include "cli/frame/build_info.h"
#include "cli/frame/command.h"
#include "cli/frame/completion.h"
#include "cli/frame/errors.h"
#include "cli/frame/man_page.h"
#include "cli/frame/output.h"
#include "cli/frame/program.h"

namespace bantam::cli {
namespace {

namespace fs = std::filesystem;

void add_help(Program& program) {
  Command& command = program.add_command("help", "Explain a command, or list all commands", kAboutGroup);
  auto name = std::make_shared<std::string>();
  command.add_option("COMMAND", *name, "COMMAND", "The command to explain");
  auto all = std::make_shared<bool>(false);
  command.add_flag("--all", *all, "Print all options, as --help-all does");
  command.footer("Examples:\n  bantam help\n  bantam help convert");
  command.action([&program, name, all] { show_help(program, *name, *all); });
}

void add_completion(Program& program) {
  Command& command = program.add_command("completion", "Print a completion script for a shell", kAboutGroup);
  auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "TEXT", "Shell: bash, zsh or fish", one_of({"bash", "zsh", "fish"})).required();
  command.footer(
      "Save the script where the shell looks for it. bash: "
      "~/.local/share/bash-completion/completions/bantam; zsh: a file _bantam in a folder of "
      "$fpath; fish: ~/.config/fish/completions/bantam.fish. An installed bantam includes these scripts.\n\n"
      "Examples:\n"
      "  source <(bantam completion bash)\n"
      "  bantam completion fish > bantam.fish");
  command.action([&program, shell] {
    const Manual manual = manual_of(program);
    out().write(*shell == "bash"  ? bash_completion(manual)
                : *shell == "zsh" ? zsh_completion(manual)
                                  : fish_completion(manual));
  });
}

void write_pages(const Program& program, const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) fail(ExitCode::kIo, "{}: {}; name a directory that can be written", directory, error.message());
  const Manual manual = manual_of(program);
  const auto write = [&](const std::string& name, const std::string& page) {
    convert::OutputFile file(fs::path(directory) / name);
    file.commit(page.data(), page.size());
  };
  write("bantam.1", man_page(manual, kVersion));
  for (const CommandText& command : manual.commands) {
    write("bantam-" + command.name + ".1", man_page(manual, command, kVersion));
  }
  if (!quiet()) out().print("{} manual pages are in {}\n", manual.commands.size() + 1, printable(directory));
}

void add_man(Program& program) {
  Command& command = program.add_command("man", "Write a manual page for each command", kAboutGroup);
  auto directory = std::make_shared<std::string>();
  command.add_option("DIR", *directory, "DIR", "Directory for bantam.1, bantam-convert.1, ...").required();
  command.footer("Examples:\n  bantam man man1");
  command.action([&program, directory] { write_pages(program, *directory); });
}

}  // namespace

void add_documents(Program& program) {
  add_help(program);
  add_completion(program);
  add_man(program);
}

}  // namespace bantam::cli
