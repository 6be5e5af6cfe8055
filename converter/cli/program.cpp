#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>
#include <sstream>
#include <system_error>

#include "cli/errors.h"
#include "cli/output.h"
#include "cli/signals.h"

namespace bantam::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  bantam convert models/voice-commands -o voice.bantam\n"
    "  bantam run voice.bantam \"play some jazz by miles davis\"\n"
    "  bantam eval voice.bantam test.jsonl\n"
    "  bantam COMMAND --help\n\n"
    "Exit codes: 0 success, 2 usage, 3 I/O, 4 invalid input or model, 5 unsupported, 6 quality gate failed,\n"
    "7 out of memory or disk, 70 internal error, 130 interrupted.";

/// One line, whatever names of strangers the message quotes.
int report(ExitCode code, const std::string& message) {
  std::fprintf(stderr, "bantam: %s\n", printable(message).c_str());
  return static_cast<int>(code);
}

/// Help goes to standard output (0), a wrong use to standard error (2).
int report_parse(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream help;
  std::ostringstream message;
  const int code = app.exit(error, help, message);
  out().write(help.str());
  out().flush();
  if (code == 0) return 0;
  std::fprintf(stderr, "bantam: %s", convert::printable_lines(message.str()).c_str());
  return static_cast<int>(ExitCode::kUsage);
}

int run(int argc, char** argv, const std::function<void(CLI::App&)>& add) {
  CLI::App app("bantam turns a trained transformer into one small file and runs it: text in, label out.", "bantam");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  add(app);
  try {
    app.parse(argc, argv);
    out().flush();
    return 0;
  } catch (const CLI::ParseError& error) {
    return report_parse(app, error);
  }
}

}  // namespace

int run_program(int argc, char** argv, const std::function<void(CLI::App&)>& add) {
  install_signal_handlers();
  try {
    return run(argc, argv, add);
  } catch (const Error& error) {
    for (const std::string& problem : error.problems()) report(error.code(), problem);
    return error.exit_code();
  } catch (const ClosedPipe&) {
    return static_cast<int>(ExitCode::kIo);
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
