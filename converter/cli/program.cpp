#include "cli/program.h"

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>

#include "cli/appearance.h"
#include "cli/build_info.h"
#include "cli/errors.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/usage_error.h"

namespace bantam::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 success, 2 usage, 3 I/O, 4 invalid input or model, 5 unsupported, 6 quality gate failed, 7 out of "
    "memory or disk, 70 internal error, 130 interrupted.\n\n"
    "Examples:\n"
    "  bantam convert models/voice-commands -o voice.bantam\n"
    "  bantam run voice.bantam \"play some jazz by miles davis\"\n"
    "  bantam help convert";

/// One line, whatever names of strangers the message quotes.
int report(ExitCode code, const std::string& message) {
  std::fprintf(stderr, "bantam: %s\n", printable(message).c_str());
  return static_cast<int>(code);
}

size_t help_width(int descriptor) {
  constexpr size_t kWidest = 100;
  const size_t width = terminal_width(descriptor);
  return std::getenv("COLUMNS") != nullptr ? width : std::min(width, kWidest);
}

/// Help and version go to standard output (0), a wrong use to standard error (2).
int report_parse(const CLI::App& app, const CLI::ParseError& error) {
  const Manual manual = manual_of(app);
  if (error.get_name() == "CallForVersion") {
    out().print("{} {}\n", manual.program, kVersion);
  } else if (error.get_name() == "CallForHelp") {
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    show_help(app, parsed.empty() ? "" : parsed.front()->get_name());
  } else {
    return report(ExitCode::kUsage, usage_error(app, manual, error));
  }
  out().flush();
  return 0;
}

/// The program without a command: what it can do, as an error.
int explain(const CLI::App& app) {
  std::fputs(overview(manual_of(app), help_width(STDERR_FILENO)).c_str(), stderr);
  return static_cast<int>(ExitCode::kUsage);
}

int run(int argc, char** argv, const std::function<void(CLI::App&)>& add) {
  CLI::App app("bantam turns a trained transformer into one small file and runs it: text in, label out.", "bantam");
  app.footer(kFooter);
  app.set_help_flag("-h,--help", "Print help");
  app.set_version_flag("-V,--version", kVersion, "Print the version");
  app.require_subcommand(0, 1);
  add_appearance_options(app);
  add(app);
  for (CLI::App* command : app.get_subcommands({})) {
    command->set_help_flag("-h,--help", "Print help")->group("Common options");
    add_appearance_options(*command);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_parse(app, error);
  }
  out().flush();
  return app.get_subcommands().empty() ? explain(app) : 0;
}

/// As tools end that are stopped by the signal itself: a shell sees 141 and prints nothing.
int die_of_closed_pipe() {
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
  return static_cast<int>(ExitCode::kIo);  // the signal is blocked
}

}  // namespace

void show_help(const CLI::App& app, const std::string& command) {
  const Manual manual = manual_of(app);
  const size_t width = help_width(STDOUT_FILENO);
  const CommandText* text = manual.find(command);
  if (text == nullptr && !command.empty()) fail(ExitCode::kUsage, "{}", unknown_command(manual, command));
  out().write(text == nullptr ? overview(manual, width) : command_help(manual, *text, width));
}

int run_program(int argc, char** argv, const std::function<void(CLI::App&)>& add) {
  install_signal_handlers();
  try {
    return run(argc, argv, add);
  } catch (const Error& error) {
    for (const std::string& problem : error.problems()) report(error.code(), problem);
    return error.exit_code();
  } catch (const ClosedPipe&) {
    return die_of_closed_pipe();
  } catch (const std::bad_alloc&) {
    return report(ExitCode::kOutOfSpace, "out of memory; a smaller --batch or --max-tokens needs less");
  } catch (const std::exception& error) {
    return report(ExitCode::kInternal,
                  fmt::format("internal error: {}; please report it with the command", error.what()));
  } catch (...) {
    return report(ExitCode::kInternal, "internal error; please report it with the command");
  }
}

}  // namespace bantam::cli
