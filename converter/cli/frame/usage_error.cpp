#include "cli/frame/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/known_keys.h"
#include "cli/frame/errors.h"
#include "cli/frame/help.h"

namespace bantam::cli {
namespace {

const OptionText* find_option(const CommandText& command, const std::string& name) {
  for (const OptionText& option : command.options) {
    if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) return &option;
  }
  return nullptr;
}

/// Returns the names of the other commands that have the option `name`.
std::vector<std::string> takers(const Manual& manual, const std::string& name) {
  std::vector<std::string> names;
  for (const CommandText& command : manual.commands) {
    const OptionText* option = find_option(command, name);
    if (option != nullptr && !option->positional) names.push_back(command.name);
  }
  return names;
}

std::string unknown_option(const Manual& manual, const CommandText& command, const std::string& name) {
  std::vector<std::string> known;
  for (const OptionText& option : command.options) {
    if (!option.positional) known.insert(known.end(), option.names.begin(), option.names.end());
  }
  const std::vector<std::string> others = takers(manual, name);
  if (!others.empty()) {
    return fmt::format("{}: does not go with {}; it is an option of {}", name, command.name, fmt::join(others, ", "));
  }
  return fmt::format("{}: unknown option{}", name, convert::guess(name, known));
}

/// Returns the message for unused arguments: it names the first unknown option or, without one, the first argument.
std::string unexpected(const Manual& manual, const CommandText& command, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.size() > 1 && argument[0] == '-' && argument != "--") {
      return unknown_option(manual, command, argument.substr(0, argument.find('=')));
    }
  }
  return fmt::format("\"{}\": nothing is expected there; quote a text that has spaces", arguments.front());
}

std::string missing(const std::string& spelling) { return spelling + " is missing"; }

/// Rewrites the parser's message, which consists of an option's longest name, a colon and the error.
std::string in_our_words(const CommandText& command, const Misuse& misuse) {
  const std::string& words = misuse.words;
  const std::string name = words.substr(0, words.find_first_of(": "));
  const OptionText* option = find_option(command, name);
  const std::string spelling = option == nullptr ? name : spelling_of(*option);
  if (misuse.kind == "RequiredError") return missing(spelling);
  if (misuse.kind == "ArgumentMismatch") {
    if (option != nullptr && option->flag()) return fmt::format("{}: takes no value", name);
    return fmt::format("{}: its value is missing, or it was given twice: {}", name, spelling);
  }
  if (misuse.kind == "ConversionError") {
    const size_t value = words.find(" = ");
    const size_t begin = words.find(": ");
    if (value != std::string::npos && begin != std::string::npos) {
      return fmt::format("{}: \"{}\" is not a number that it takes", words.substr(begin + 2, value - begin - 2),
                         words.substr(value + 3));
    }
  }
  return words;
}

/// Returns `mistake` followed by the help to read: that of a command or of the program.
std::string with_help(const std::string& mistake, const Manual& manual, const std::string& command,
                      const char* what = "options") {
  return fmt::format("{}{} {}{}{} --help lists the {}", mistake, mistake.back() == '?' ? "" : ";", manual.program,
                     command.empty() ? "" : " ", command, what);
}

}  // namespace

void fail_missing(const Command& command, const std::string& name) {
  const CommandText text = command.text();
  const OptionText* option = find_option(text, name);
  Manual manual;
  manual.program = "bantam";
  fail(ExitCode::kUsage, "{}",
       with_help(text.name + ": " + missing(option == nullptr ? name : spelling_of(*option)), manual, text.name));
}

std::string unknown_command(const Manual& manual, const std::string& word) {
  return with_help(fmt::format("\"{}\" is not a command{}", word, convert::guess(word, manual.command_names())), manual,
                   "", "commands");
}

std::string usage_error(const Manual& manual, const Parsed& parsed) {
  const CommandText* command = parsed.command == nullptr ? nullptr : manual.find(parsed.command->name());
  const Words& before = parsed.misuse.before;
  if (command == nullptr && !before.empty() && before.front()[0] != '-') return unknown_command(manual, before.front());
  if (!before.empty()) return with_help(unexpected(manual, manual.overall, before), manual, "");
  if (command == nullptr) return with_help(in_our_words(manual.overall, parsed.misuse), manual, "");
  const Words& left = parsed.misuse.after;
  const std::string mistake = left.empty() ? in_our_words(*command, parsed.misuse) : unexpected(manual, *command, left);
  if (manual.single) return with_help(mistake, manual, "");
  return with_help(command->name + ": " + mistake, manual, command->name);
}

}  // namespace bantam::cli
