#include "cli/frame/program.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "base/guard.h"
#include "base/memory_reserve.h"
#include "base/output_file.h"
#include "cli/frame/appearance.h"
#include "cli/frame/build_info.h"
#include "cli/frame/errors.h"
#include "cli/frame/help.h"
#include "cli/frame/output.h"
#include "cli/frame/parse.h"
#include "cli/frame/signals.h"
#include "cli/frame/usage_error.h"

namespace bantam::cli {

const char* const kExitCodes =
    "Exit codes: 0 success, 2 usage, 3 I/O, 4 invalid input or model, 5 unsupported, 6 quality gate failed, 7 out of "
    "memory or disk, 70 internal error, 130 interrupted.\n\n";

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  bantam convert models/voice-commands -o voice.bantam\n"
    "  bantam run voice.bantam \"play some jazz by miles davis\"\n"
    "  bantam help convert";

/// Prints one line, even if the message quotes names that contain control characters.
int report(const std::string& name, ExitCode code, const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", printable(name).c_str(), printable(message).c_str());
  return static_cast<int>(code);
}

size_t help_width(int descriptor) {
  constexpr size_t kWidest = 100;
  const size_t width = terminal_width(descriptor);
  return std::getenv("COLUMNS") != nullptr ? width : std::min(width, kWidest);
}

/// Prints help and version to standard output (0) and usage errors to standard error (2).
int answer(const Program& program, const Parsed& parsed) {
  if (parsed.outcome == Parsed::kMisuse)
    return report(program.name(), ExitCode::kUsage, usage_error(manual_of(program), parsed));
  if (parsed.outcome == Parsed::kShowVersion) {
    out().print("{} {}\n", program.name(), kVersion);
  } else {
    show_help(program, parsed.command == nullptr ? "" : parsed.command->name(), parsed.outcome == Parsed::kHelpAll);
  }
  out().flush();
  return 0;
}

/// Called without a command, the program prints its overview as an error.
int explain(const Program& program) {
  std::fputs(overview(manual_of(program), help_width(STDERR_FILENO)).c_str(), stderr);
  return static_cast<int>(ExitCode::kUsage);
}

/// Returns the arguments for the parser. In a program with a single command, inserts the command's name before them.
std::vector<char*> with_command(const Program& program, int argc, char** argv) {
  std::vector<char*> words(argv, argv + argc);
  if (program.single) words.insert(words.begin() + 1, const_cast<char*>(program.commands.front().name().c_str()));
  return words;
}

int run(int argc, char** argv, const std::function<void(Program&)>& add, const std::string& name) {
  Program program(name, "bantam turns a trained transformer into one small file and runs it: text in, label out.");
  program.overall.footer(std::string(kExitCodes) + kExamples);
  program.overall.add_help_flags();
  program.overall.add_version_flag();
  add_appearance_options(program.overall);
  add(program);
  for (Command& command : program.commands) {
    command.heading("Common options");
    command.add_help_flags();
    add_appearance_options(command);
  }
  std::vector<char*> words = with_command(program, argc, argv);
  const Parsed parsed = parse(program, static_cast<int>(words.size()), words.data());
  if (parsed.outcome != Parsed::kGood) return answer(program, parsed);
  if (parsed.command == nullptr) return explain(program);
  parsed.command->run();
  out().flush();
  return 0;
}

/// Ends the process as the signal itself would: the shell sees 141 and prints nothing.
int die_of_closed_pipe() {
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
  return static_cast<int>(ExitCode::kIo);  // reached only if the signal is blocked
}

}  // namespace

void show_help(const Program& program, const std::string& command, bool all) {
  const Manual manual = manual_of(program);
  const size_t width = help_width(STDOUT_FILENO);
  const CommandText* text = manual.find(command);
  if (text == nullptr && !command.empty()) fail(ExitCode::kUsage, "{}", unknown_command(manual, command));
  out().write(text == nullptr ? overview(manual, width) : command_help(manual, *text, width, all));
}

namespace {

/// Like report(), but allocates no memory. `name` must be printable.
int report_no_memory(std::string_view name) {
  for (const std::string_view text :
       {name, std::string_view(": out of memory; a smaller --batch or --max-tokens needs less\n")})
    static_cast<void>(convert::write_all(STDERR_FILENO, text.data(), text.size()));
  return static_cast<int>(ExitCode::kOutOfSpace);
}

/// Ends the process when an exception leaves a noexcept function, as some library functions allocate nevertheless.
[[noreturn]] void end_at_once() {
  convert::unlink_temporaries();
  try {
    if (const std::exception_ptr cause = std::current_exception()) std::rethrow_exception(cause);
  } catch (const std::bad_alloc&) {
    _exit(report_no_memory("bantam"));
  } catch (...) {
  }
  std::abort();
}

int run_reporting(int argc, char** argv, const std::function<void(Program&)>& add, const std::string& name) {
  try {
    return run(argc, argv, add, name);
  } catch (const convert::ClosedOutput&) {
    return die_of_closed_pipe();
  } catch (const Error& error) {
    for (const std::string& problem : error.problems()) report(name, error.code(), problem);
    return error.exit_code();
  } catch (const ClosedPipe&) {
    return die_of_closed_pipe();
  } catch (const std::bad_alloc&) {
    throw;  // The caller handles it, because a report allocates too.
  } catch (const std::system_error& cause) {
    const Error error = convert::error_of(cause);
    return report(name, error.code(), error.problems().front());
  } catch (const std::exception& error) {
    return report(name, ExitCode::kInternal,
                  fmt::format("internal error: {}; please report it with the command", error.what()));
  } catch (...) {
    return report(name, ExitCode::kInternal, "internal error; please report it with the command");
  }
}

}  // namespace

int run_program(int argc, char** argv, const std::function<void(Program&)>& add, const std::string& name) {
  install_signal_handlers();
  std::set_terminate(end_at_once);
  const std::string shown = printable(name);
  try {
    convert::keep_memory_reserve();
    return run_reporting(argc, argv, add, name);
  } catch (const std::bad_alloc&) {
    return report_no_memory(shown);
  }
}

}  // namespace bantam::cli
