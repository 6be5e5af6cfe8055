// The command line, parsed by what commands declare. The only part that knows CLI11, whose header takes three seconds to
// compile.
#ifndef BANTAM_CONVERTER_CLI_FRAME_PARSE_H_
#define BANTAM_CONVERTER_CLI_FRAME_PARSE_H_

#include <string>
#include <vector>

#include "cli/frame/command.h"

namespace bantam::cli {

struct Misuse {
  std::string kind;                        // CLI11's name of the error
  std::string words;                       // its message, which begins with an option's longest name
  std::vector<std::string> before, after;  // arguments that nothing took, before the command and behind it
};

struct Parsed {
  enum Outcome { kGood, kHelp, kHelpAll, kShowVersion, kMisuse } outcome = kGood;
  const Command* command = nullptr;  // null: none was named
  Misuse misuse;
};

/// Writes what the arguments say to the options' targets.
Parsed parse(Program& program, int argc, char** argv);

/// Reads a number as an option's value is read; false: it is none, or none of this type.
template <typename T>
bool read_number(const std::string& text, T* value);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_PARSE_H_
