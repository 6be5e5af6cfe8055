// Parses the command line by the declarations of the commands. Only this part includes CLI11, whose header takes three
// seconds to compile.
#ifndef BANTAM_CONVERTER_CLI_FRAME_PARSE_H_
#define BANTAM_CONVERTER_CLI_FRAME_PARSE_H_

#include <string>
#include <vector>

#include "cli/frame/command.h"

namespace bantam::cli {

struct Misuse {
  std::string kind;                        // CLI11's name of the error
  std::string words;                       // its message, which begins with an option's longest name
  std::vector<std::string> before, after;  // unused arguments before and after the command's name
};

struct Parsed {
  enum Outcome { kGood, kHelp, kHelpAll, kShowVersion, kMisuse } outcome = kGood;
  const Command* command = nullptr;  // null: the command line names none
  Misuse misuse;
};

/// Parses the arguments and writes the values to the options' targets.
Parsed parse(Program& program, int argc, char** argv);

/// Parses a number as option values are parsed; returns false if `text` is not a number of type T.
template <typename T>
bool read_number(const std::string& text, T* value);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_PARSE_H_
