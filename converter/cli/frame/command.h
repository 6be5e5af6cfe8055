// Declarations of commands and their options. cli/frame/parse.h parses the command line by them; cli/frame/manual.h
// makes help, completion and manual pages from them.
#ifndef BANTAM_CONVERTER_CLI_FRAME_COMMAND_H_
#define BANTAM_CONVERTER_CLI_FRAME_COMMAND_H_

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cli/frame/choices.h"
#include "cli/frame/manual.h"

namespace bantam::cli {

using Words = std::vector<std::string>;

/// Where an option's value is stored. A function of one string receives the last word, after its checks; a function of
/// a list receives all words as given. std::monostate: no value; help and version flags, which the parser handles
/// itself.
using Target = std::variant<std::monostate, bool*, std::string*, int*, unsigned*, unsigned long*, unsigned long long*,
                            float*, double*, std::optional<std::string>*, std::optional<unsigned>*,
                            std::optional<float>*, std::optional<double>*, Words*, std::vector<unsigned>*,
                            std::function<void(const std::string&)>, std::function<void(const Words&)>>;

class Option {
 public:
  Option(OptionText text, Target target) : text_(std::move(text)), target_(std::move(target)) {}

  Option& required() {
    text_.required = true;
    return *this;
  }
  Option& value(std::string name);
  /// Sets the heading in the help under which the option is listed.
  Option& group(std::string heading) {
    text_.group = std::move(heading);
    return *this;
  }
  Option& takes(Check check);
  /// The list is one argument, such as a,b,c.
  Option& separated_by(char separator) {
    separator_ = separator;
    return *this;
  }
  /// For a list: each use of the option gives one value.
  Option& one_at_a_time() {
    one_at_a_time_ = true;
    return *this;
  }
  Option& not_with(std::vector<std::string> names) {
    excluded_ = std::move(names);
    return *this;
  }

  const OptionText& text() const { return text_; }
  const Target& target() const { return target_; }
  const Check& check() const { return check_; }
  char separator() const { return separator_; }
  bool is_one_at_a_time() const { return one_at_a_time_; }
  const std::vector<std::string>& excluded() const { return excluded_; }

 private:
  OptionText text_;
  Target target_;
  Check check_;
  char separator_ = '\0';
  bool one_at_a_time_ = false;
  std::vector<std::string> excluded_;
};

class Command {
 public:
  Command(std::string name, std::string summary, std::string group = "");

  /// `target` is a number, a string, a path, a list, or a type that choices() sets; it must live until the command
  /// ends. `names`: "-o,--output", or the single name of a positional argument. `value`: the name of its value in the
  /// help; FILE, DATA, RECIPE and PATH stand for files, FILE.bantam for a model, DIR for a directory, COMMAND for a
  /// command. `check`: the values that it accepts.
  template <typename T>  // what depends on T is not seen to move. NOLINTNEXTLINE(performance-unnecessary-value-param)
  Option& add_option(const std::string& names, T& target, const char* value, std::string what, Check check = {}) {
    return add(names, target_of(target), std::move(what)).value(value).takes(std::move(check));
  }
  Option& add_flag(const std::string& names, bool& target, std::string what);
  /// Adds --help and, if the command has usual() options, --help-all.
  void add_help_flags();
  Option& add_version_flag() { return add("-V,--version", std::monostate(), "Print the version"); }
  /// Takes any text as it is, once or several times. The parser would otherwise split "[a, b]" and "{}" as lists and
  /// drop "".
  Option& add_text(const std::string& name, std::optional<std::string>* text, std::string what);
  Option& add_texts(const std::string& name, Words* texts, std::string what);
  /// Sets the heading of the options that follow.
  void heading(std::string name) { heading_ = std::move(name); }
  /// Adds paragraphs below the options. A paragraph that begins with the line "Examples:" consists of command lines.
  void footer(const std::string& text);
  /// Replaces the examples of the footer.
  void set_examples(Words lines) { text_.examples = std::move(lines); }
  /// Sets the options, by their longest names, that --help prints besides arguments and required options. Commands that
  /// share a list may have only some of them. --help-all prints all options. Without this call, --help does too.
  void usual(Words names) { usual_ = std::move(names); }
  /// Fixes the value of a positional, which is then no longer an argument.
  void bind(const std::string& positional, const std::string& value);
  /// Sets the function that the command runs. It reports failures by throwing (cli/frame/errors.h).
  void action(std::function<void()> run) { run_ = std::move(run); }

  /// Returns true if the option was given; valid after parsing.
  bool given(const std::string& name) const;

  CommandText text() const;
  const std::string& name() const { return text_.name; }
  const std::deque<Option>& options() const { return options_; }
  void set_given(Words names) { given_ = std::move(names); }
  void run() const { run_(); }

 private:
  template <typename T>
  static Target target_of(T& target) {
    if constexpr (std::is_same_v<T, std::filesystem::path>) {
      return std::function<void(const std::string&)>([&target](const std::string& path) { target = path; });
    } else if constexpr (is_choice<T>::value) {
      return std::function<void(const std::string&)>([&target](const std::string& number) {
        target = static_cast<typename is_choice<T>::type>(std::stoll(number));
      });
    } else {
      return &target;
    }
  }
  /// True for the types that choices() sets.
  template <typename T>
  struct is_choice : std::bool_constant<std::is_enum_v<T> || std::is_same_v<T, bool>> {
    using type = T;
  };
  template <typename T>
  struct is_choice<std::optional<T>> : is_choice<T> {};

  Option& add(const std::string& names, Target target, std::string what);

  CommandText text_;
  std::string heading_ = "Options";
  std::deque<Option> options_;
  Words usual_;
  std::function<void()> run_;
  Words given_;
};

struct Program {
  Program(std::string name, std::string summary) : overall(std::move(name), std::move(summary)) {}

  /// `group`: the heading in the list of commands.
  Command& add_command(std::string name, std::string summary, std::string group) {
    return commands.emplace_back(std::move(name), std::move(summary), std::move(group));
  }
  const std::string& name() const { return overall.name(); }
  /// Keeps only `command`; the program's arguments are then its arguments, without its name. Throws std::out_of_range
  /// if there is no command of that name.
  Command& make_single(const std::string& command);

  Command overall;  // the options and notes of the program itself
  std::deque<Command> commands;
  bool single = false;
};

Manual manual_of(const Program& program);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_COMMAND_H_
