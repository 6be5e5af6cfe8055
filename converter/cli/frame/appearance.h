// How much the command prints and how it looks: --quiet, --color, the terminal's width and characters.
#ifndef BANTAM_CONVERTER_CLI_FRAME_APPEARANCE_H_
#define BANTAM_CONVERTER_CLI_FRAME_APPEARANCE_H_

#include <cstddef>

namespace bantam::cli {

class Command;

enum class Color { kAuto, kAlways, kNever };

struct Appearance {
  Color color = Color::kAuto;
  bool quiet = false;
};

/// The appearance that the command line chose. It is the only global state of the program.
Appearance& appearance();

/// Adds --color and --quiet, under the heading "Common options".
void add_appearance_options(Command& command);

/// Returns true if standard output uses colors. The first of these that is set decides: --color, NO_COLOR,
/// CLICOLOR_FORCE, whether it is a terminal.
bool colored();

/// Returns true for --quiet: the program then prints no reports and no progress, only results and errors.
inline bool quiet() { return appearance().quiet; }

/// Returns true if standard error can show progress: it is a terminal that can move its cursor, and --quiet is not
/// given.
bool shows_progress();

/// Prints a prompt to standard error for a person who types texts (data/text_source.h), if it is a terminal and --quiet
/// is not given.
void show_prompt(const char* text);

/// Returns true if LC_ALL, LC_CTYPE or LANG says that the terminal uses UTF-8.
bool utf8_terminal();

/// Returns the number of columns of a line: COLUMNS, else the width of the terminal `descriptor`, else 80; at least 20.
size_t terminal_width(int descriptor);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_APPEARANCE_H_
