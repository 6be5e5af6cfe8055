// Text of strangers for people to read.
#ifndef BANTAM_CONVERTER_BASE_PRINTABLE_H_
#define BANTAM_CONVERTER_BASE_PRINTABLE_H_

#include <string>
#include <string_view>

namespace bantam::convert {

/// `text` without what moves a terminal's cursor, starts a line or turns the order of what follows: control characters
/// (C0, C1, DEL), line separators and directional formatting become \n, \t or \u00XX; invalid UTF-8 becomes U+FFFD.
std::string printable(std::string_view text);

/// The same, but line feeds stay: of messages, whose first lines the caller begins.
std::string printable_lines(std::string_view text);

/// `text` as one word of a POSIX shell's command, for a person to copy.
std::string shell_word(std::string_view text);

/// `text` as plain text of a Markdown line.
std::string markdown_text(std::string_view text);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_PRINTABLE_H_
