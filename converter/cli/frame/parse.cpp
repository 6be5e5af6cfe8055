#include "cli/frame/parse.h"

#include <CLI/CLI.hpp>
#include <map>

namespace bantam::cli {
namespace {

constexpr const char* kHelpAll = "--help-all";

std::string spelled(const OptionText& text) {
  std::string names;
  for (const std::string& name : text.names) names += (names.empty() ? "" : ",") + name;
  return names;
}

/// Adds an option according to the type of its target.
struct Adder {
  CLI::App& app;
  std::string names;
  const OptionText& text;

  CLI::Option* operator()(std::monostate) const {
    if (text.longest_name() == "--help") return app.set_help_flag(names);
    if (text.longest_name() == kHelpAll) return app.set_help_all_flag(names);
    return app.set_version_flag(names, std::string());
  }
  CLI::Option* operator()(bool* target) const { return app.add_flag(names, *target, text.what); }
  CLI::Option* operator()(const std::function<void(const std::string&)>& take) const {
    const auto last = [take](const CLI::results_t& results) {
      take(results.empty() ? std::string() : results.back());
      return true;
    };
    return app.add_option(names, last, text.what)->expected(1);
  }
  CLI::Option* operator()(const std::function<void(const Words&)>& take) const {
    const auto all = [take](const CLI::results_t& results) {
      take(results);
      return true;
    };
    CLI::Option* option = app.add_option(names, all, text.what)->take_all();
    // Without extra arguments, CLI11 gives a positional only its minimum count; with take_all(), fewer are allowed.
    const int most = CLI::detail::expected_max_vector_size;
    return text.positional ? option->expected(most, most) : option->expected(1);
  }
  template <typename T>
  CLI::Option* operator()(T* target) const {
    return app.add_option(names, *target, text.what);
  }
};

CLI::Option* add_option(CLI::App& app, const Option& declared) {
  const OptionText& text = declared.text();
  CLI::Option* option = std::visit(Adder{app, spelled(text), text}, declared.target());
  option->required(text.required);
  if (!text.value.empty()) option->type_name(text.value);
  if (declared.separator() != '\0') option->delimiter(declared.separator());
  if (declared.is_one_at_a_time()) option->allow_extra_args(false);
  if (declared.check().correct) option->transform(CLI::Validator(declared.check().correct, ""));
  return option;
}

class Parser {
 public:
  explicit Parser(Program& program) : app_("", program.name()) {
    app_.require_subcommand(0, 1);
    add(app_, program.overall);
    for (Command& command : program.commands) {
      CLI::App* app = app_.add_subcommand(command.name());
      add(*app, command);
      commands_[app] = &command;
    }
  }

  Parsed parse(int argc, char** argv) {
    Parsed result;
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      result.outcome = error.get_name() == "CallForVersion"   ? Parsed::kShowVersion
                       : error.get_name() == "CallForHelp"    ? Parsed::kHelp
                       : error.get_name() == "CallForAllHelp" ? Parsed::kHelpAll
                                                              : Parsed::kMisuse;
      result.misuse = {error.get_name(), error.what(), app_.remaining(), {}};
    }
    const std::vector<CLI::App*> parsed = app_.get_subcommands();
    if (parsed.empty()) return result;
    Command* command = commands_.at(parsed.front());
    result.command = command;
    result.misuse.after = parsed.front()->remaining();
    Words given;
    for (const Option& option : command->options()) {
      for (const std::string& name : option.text().names) {
        if (parsed.front()->count(name) > 0) given.push_back(name);
      }
    }
    command->set_given(given);
    return result;
  }

 private:
  static void add(CLI::App& app, const Command& command) {
    app.set_help_flag();
    app.set_help_all_flag(kHelpAll);  // CLI11 also gets this flag if --help prints all options
    for (const Option& declared : command.options()) {
      add_option(app, declared);
    }
    for (const Option& declared : command.options()) {
      for (const std::string& other : declared.excluded()) {
        app.get_option(declared.text().longest_name())->excludes(app.get_option(other));
      }
    }
  }

  CLI::App app_;
  std::map<const CLI::App*, Command*> commands_;
};

}  // namespace

Parsed parse(Program& program, int argc, char** argv) { return Parser(program).parse(argc, argv); }

template <typename T>
bool read_number(const std::string& text, T* value) {
  return CLI::detail::lexical_cast(text, *value);
}
template bool read_number(const std::string&, int*);
template bool read_number(const std::string&, unsigned*);
template bool read_number(const std::string&, unsigned long*);
template bool read_number(const std::string&, float*);
template bool read_number(const std::string&, double*);

}  // namespace bantam::cli
