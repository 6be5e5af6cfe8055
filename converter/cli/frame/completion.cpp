#include "cli/frame/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bantam::cli {
namespace {

/// Returns all option names of a command, without positionals.
std::vector<std::string> option_names(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options) {
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<const OptionText*> positionals(const CommandText& command) {
  std::vector<const OptionText*> list;
  for (const OptionText& option : command.options) {
    if (option.positional) list.push_back(&option);
  }
  return list;
}

std::string with_marks(const std::string& text, const std::string& special, const std::string& before) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) result += before;
    result += c;
  }
  return result;
}

/// Returns the text in single quotes for POSIX shells and fish.
std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

/// The code of a shell's script for each kind of value; {} stands for the words to choose from. The texts are in the
/// order of Offer: nothing, words, files, models, directories. Commands are offered as words.
struct Offers {
  const char* texts[5];

  std::string of(const OptionText& option, const Manual& manual) const {
    const bool commands = option.offer == Offer::kCommands;
    const std::vector<std::string> words = commands ? manual.command_names() : option.words;
    return fmt::format(fmt::runtime(texts[static_cast<size_t>(commands ? Offer::kWords : option.offer)]),
                       fmt::join(words, " "));
  }
};

constexpr Offers kBash = {
    {":", "_bantam_words '{}'", "_bantam_files ''", "_bantam_files '!*.bantam'", "_bantam_files '*'"}};
constexpr Offers kZsh = {{" ", "({})", "_files", "_files -g \"*.bantam\"", "_files -/"}};
constexpr Offers kFish = {
    {" -x", " -xa '{}'", " -rF", " -xa '(__fish_complete_suffix .bantam)'", " -xa '(__fish_complete_directories)'"}};

// bash

/// Returns the cases "command,option" that complete values of options.
std::string bash_values(const Manual& manual, const CommandText& command) {
  std::string cases;
  for (const OptionText& option : command.options) {
    if (option.positional || option.flag()) continue;
    std::vector<std::string> patterns;
    patterns.reserve(option.names.size());
    for (const std::string& name : option.names) patterns.push_back(command.name + "," + name);
    cases += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"), kBash.of(option, manual));
  }
  return cases;
}

/// Returns the completion of arguments that are not options. Later arguments without an offer of their own use the
/// first argument's offer.
std::string bash_arguments(const Manual& manual, const CommandText& command) {
  for (const OptionText* argument : positionals(command)) {
    if (argument->offer != Offer::kNothing) return kBash.of(*argument, manual);
  }
  return ":";
}

constexpr const char* kBashStart = R"(# bash completion of bantam, made by `bantam completion bash`.
_bantam_words() {
  local IFS=$' \t\n'
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

# Directories, and the files that the pattern $1 does not leave out.
_bantam_files() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -d -- "$cur"; compgen -f -X "$1" -- "$cur" | while read -r name; do
    [ -d "$name" ] || printf '%s\n' "$name"
  done))
}

_bantam() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i
  COMPREPLY=()
  # bash takes --option=value apart.
  if [ "$cur" = "=" ]; then
    cur=
  elif [ "$prev" = "=" ]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      --color) ((++i)) ;;
      -*|=) ;;
      *) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command,$prev in
)";

// zsh

std::string zsh_spec(const OptionText& option, const std::string& name, const Manual& manual) {
  std::string spec = option.repeats ? "*" : "";
  spec += name + "[" + with_marks(option.what, "[]\\:", "\\") + "]";
  if (!option.flag()) spec += ":" + with_marks(option.value, ":", "\\") + ":" + kZsh.of(option, manual);
  return shell_quoted(spec);
}

std::string zsh_command(const Manual& manual, const CommandText& command) {
  std::string lines = fmt::format("    {})\n      _arguments -s", command.name);
  for (const OptionText& option : command.options) {
    if (option.positional) continue;
    for (const std::string& name : option.names) lines += " \\\n        " + zsh_spec(option, name, manual);
  }
  for (const OptionText* argument : positionals(command)) {
    lines += " \\\n        " + shell_quoted(fmt::format("{}:{}:{}", argument->repeats ? "*" : "", argument->names[0],
                                                        kZsh.of(*argument, manual)));
  }
  return lines + "\n      ;;\n";
}

// fish

std::string fish_option(const Manual& manual, const std::string& condition, const OptionText& option) {
  std::string line = "complete -c bantam -n " + shell_quoted(condition);
  for (const std::string& name : option.names) {
    line += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.flag()) line += kFish.of(option, manual);
  return line + " -d " + shell_quoted(with_marks(option.what, "\\", "\\")) + "\n";
}

}  // namespace

std::string bash_completion(const Manual& manual) {
  std::string script = kBashStart;
  script += bash_values(manual, manual.overall);
  for (const CommandText& command : manual.commands) script += bash_values(manual, command);
  script += "  esac\n  case $command in\n";
  const auto add = [&](const CommandText& command, const std::string& pattern, const std::string& arguments) {
    script += fmt::format("    {}) if [[ $cur == -* ]]; then _bantam_words {}; else {}; fi ;;\n", pattern,
                          shell_quoted(fmt::format("{}", fmt::join(option_names(command), " "))), arguments);
  };
  add(manual.overall, "''",
      fmt::format("_bantam_words {}", shell_quoted(fmt::format("{}", fmt::join(manual.command_names(), " ")))));
  for (const CommandText& command : manual.commands) add(command, command.name, bash_arguments(manual, command));
  return script + "  esac\n}\ncomplete -F _bantam bantam\n";
}

std::string zsh_completion(const Manual& manual) {
  std::string script =
      "#compdef bantam\n# zsh completion of bantam, made by `bantam completion zsh`.\n_bantam() {\n"
      "  local context state line\n  typeset -A opt_args\n"
      "  _arguments -s -C";
  for (const OptionText& option : manual.overall.options) {
    for (const std::string& name : option.names) script += " \\\n    " + zsh_spec(option, name, manual);
  }
  script +=
      " \\\n    '1:command:->command' '*::argument:->argument'\n  case $state in\n  command)\n    local -a "
      "commands=(\n";
  for (const CommandText& command : manual.commands) {
    script += "      " + shell_quoted(command.name + ":" + with_marks(command.summary, ":", "\\")) + "\n";
  }
  script += "    )\n    _describe command commands\n    ;;\n  argument)\n    case $words[1] in\n";
  for (const CommandText& command : manual.commands) script += zsh_command(manual, command);
  return script +
         "    esac\n    ;;\n  esac\n}\n"
         "if [[ ${funcstack[1]-} == _bantam ]]; then _bantam \"$@\"; else compdef _bantam bantam; fi\n";
}

std::string fish_completion(const Manual& manual) {
  std::string script = "# fish completion of bantam, made by `bantam completion fish`.\ncomplete -c bantam -f\n";
  const std::string none = "__fish_use_subcommand";
  for (const OptionText& option : manual.overall.options) script += fish_option(manual, none, option);
  for (const CommandText& command : manual.commands) {
    script += fmt::format("complete -c bantam -n {} -a {} -d {}\n", none, command.name, shell_quoted(command.summary));
    const std::string seen = "__fish_seen_subcommand_from " + command.name;
    for (const OptionText& option : command.options) {
      if (!option.positional) {
        script += fish_option(manual, seen, option);
      } else if (option.offer != Offer::kNothing) {
        script += fmt::format("complete -c bantam -n {}{}\n", shell_quoted(seen), kFish.of(option, manual));
      }
    }
  }
  return script;
}

}  // namespace bantam::cli
