// help, completion, man: the command line about itself.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/output_file.h"
#include "cli/appearance.h"
#include "cli/build_info.h"
#include "cli/choices.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/errors.h"
#include "cli/man_page.h"
#include "cli/output.h"
#include "cli/program.h"

namespace bantam::cli {
namespace {

namespace fs = std::filesystem;

void add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Explain a command, or list all of them")->group(kAboutGroup);
  auto name = std::make_shared<std::string>();
  command->add_option("COMMAND", *name, "The command to explain")->type_name("COMMAND");
  command->footer("Examples:\n  bantam help\n  bantam help convert");
  command->callback([&app, name] { show_help(app, *name); });
}

void add_completion(CLI::App& app) {
  CLI::App* command = app.add_subcommand("completion", "Print a script that completes commands in a shell");
  command->group(kAboutGroup);
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}));
  command->footer(
      "bash reads the script from ~/.local/share/bash-completion/completions/bantam, zsh from a file _bantam in a "
      "folder of $fpath, fish from ~/.config/fish/completions/bantam.fish. An installed bantam has them already.\n\n"
      "Examples:\n"
      "  source <(bantam completion bash)\n"
      "  bantam completion fish > bantam.fish");
  command->callback([&app, shell] {
    const Manual manual = manual_of(app);
    out().write(*shell == "bash"  ? bash_completion(manual)
                : *shell == "zsh" ? zsh_completion(manual)
                                  : fish_completion(manual));
  });
}

void write_pages(const CLI::App& app, const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) fail(ExitCode::kIo, "{}: {}; name a directory that can be written", directory, error.message());
  const Manual manual = manual_of(app);
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

void add_man(CLI::App& app) {
  CLI::App* command = app.add_subcommand("man", "Write manual pages, one for each command")->group(kAboutGroup);
  auto directory = std::make_shared<std::string>();
  command->add_option("DIR", *directory, "Where to write bantam.1, bantam-convert.1, ...")
      ->required()
      ->type_name("DIR");
  command->footer("Examples:\n  bantam man man1");
  command->callback([&app, directory] { write_pages(app, *directory); });
}

}  // namespace

void add_documents(CLI::App& app) {
  add_help(app);
  add_completion(app);
  add_man(app);
}

}  // namespace bantam::cli
