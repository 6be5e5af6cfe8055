// Makes untrusted text safe to show to people.
#ifndef BANTAM_CONVERTER_BASE_PRINTABLE_H_
#define BANTAM_CONVERTER_BASE_PRINTABLE_H_

#include <string>
#include <string_view>

namespace bantam::convert {

/// `text` without characters that move a terminal's cursor, start a line or change the text direction: control
/// characters (C0, C1, DEL), line separators and directional formatting become \n, \t or
/// \u00XX; invalid UTF-8 becomes U+FFFD.
std::string printable(std::string_view text);

/// As printable(), but keeps line feeds: for messages whose line starts the caller controls.
std::string printable_lines(std::string_view text);

/// `text` quoted as one word of a POSIX shell command, for a person to copy.
std::string shell_word(std::string_view text);

/// `text` escaped as plain text within a line of Markdown.
std::string markdown_text(std::string_view text);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_PRINTABLE_H_
