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

/// What the command line said; the only state of the program that is not handed from function to function.
Appearance& appearance();

/// Adds --color and --quiet, under the heading "Common options".
void add_appearance_options(Command& command);

/// Shall standard output have colours? --color, else NO_COLOR, else CLICOLOR_FORCE, else whether it is a terminal.
bool colored();

/// No reports and no progress: results and errors only.
inline bool quiet() { return appearance().quiet; }

/// Can standard error show progress: a terminal that moves its cursor, without --quiet?
bool shows_progress();

/// For a person who types texts (data/text_source.h): on standard error, where that is a terminal, without --quiet.
void show_prompt(const char* text);

/// Does the terminal take UTF-8, as LC_ALL, LC_CTYPE or LANG say?
bool utf8_terminal();

/// Columns of a line: COLUMNS, else those of the terminal that `descriptor` is, else 80. At least 20.
size_t terminal_width(int descriptor);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_APPEARANCE_H_
