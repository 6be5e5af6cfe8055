// The description of the command line that options declare (cli/frame/command.h). Help, shell completion and manual
// pages are made from it.
#ifndef BANTAM_CONVERTER_CLI_FRAME_MANUAL_H_
#define BANTAM_CONVERTER_CLI_FRAME_MANUAL_H_

#include <string>
#include <vector>

namespace bantam::cli {

/// The completions that a shell offers for a value.
enum class Offer { kNothing, kWords, kFiles, kModels, kDirectories, kCommands };

/// One option or positional argument.
struct OptionText {
  std::vector<std::string> names;  // "-o", "--output"; a positional has one name
  std::string value;               // the name of its value, such as "FILE"; empty for a flag
  std::string what;                // one paragraph
  std::string group;               // heading in the help
  std::vector<std::string> words;  // all values that it accepts, if they are few
  Offer offer = Offer::kNothing;
  bool positional = false;
  bool required = false;
  bool repeats = false;
  bool usual = false;  // printed in the short help too, if the command has one

  bool flag() const { return value.empty() && !positional; }
  const std::string& longest_name() const { return names.back(); }
};

struct CommandText {
  std::string name;     // empty: the program itself
  std::string summary;  // one line
  std::string group;    // heading in the list of commands
  std::vector<OptionText> options;
  std::vector<std::string> notes;     // paragraphs; lines that begin with a space are kept as they are
  std::vector<std::string> examples;  // command lines, in order; lines that begin with # are comments

  /// Returns true if --help prints only some of the options, and --help-all all of them.
  bool has_short_help() const;
};

struct Manual {
  std::string program;  // "bantam"
  CommandText overall;  // options and notes of the program itself
  std::vector<CommandText> commands;
  bool single = false;  // the program has one command, whose name is not typed

  /// Returns nullptr if there is no such command.
  const CommandText* find(const std::string& command) const;
  std::vector<std::string> command_names() const;
  /// Returns how a command is invoked: "bantam run".
  std::string called(const CommandText& command) const { return single ? program : program + " " + command.name; }
};

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_MANUAL_H_
