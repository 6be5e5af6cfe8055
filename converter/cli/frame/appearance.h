// How much the command says and how it looks: --quiet, --color, the terminal's width and characters.
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

/// The appearance that the command line chose; the only state of the program that is not handed from function to
/// function.
Appearance& appearance();

/// Adds --color and --quiet, under the heading "Common options".
void add_appearance_options(Command& command);

/// Returns true if standard output gets colours: by --color, else NO_COLOR, else CLICOLOR_FORCE, else if it is a
/// terminal.
bool colored();

/// True for --quiet: the program prints no reports and no progress, only results and errors.
inline bool quiet() { return appearance().quiet; }

/// Returns true if standard error can show progress: it is a terminal that moves its cursor, and --quiet is not given.
bool shows_progress();

/// Shows a prompt to a person who types texts (data/text_source.h): on standard error, if it is a terminal, without
/// --quiet.
void show_prompt(const char* text);

/// Returns true if the terminal takes UTF-8 by LC_ALL, LC_CTYPE or LANG.
bool utf8_terminal();

/// Columns of a line: COLUMNS, else those of the terminal that `descriptor` is, else 80. At least 20.
size_t terminal_width(int descriptor);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_APPEARANCE_H_
