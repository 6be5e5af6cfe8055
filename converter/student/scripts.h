// Scripts: the writing systems that tokens belong to.
#ifndef BANTAM_CONVERTER_STUDENT_SCRIPTS_H_
#define BANTAM_CONVERTER_STUDENT_SCRIPTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// Returns the names that recipes may use: "latin", "greek", ...
const std::vector<std::string>& script_names();

/// Returns true if every code point of `text` (UTF-8) belongs to one of `scripts` or is common to all scripts: digits,
/// punctuation, symbols, combining marks. Unicode's blocks (Blocks.txt) decide, so a few unassigned or shared code
/// points count as their block.
bool in_scripts(std::string_view text, const std::vector<std::string>& scripts);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_SCRIPTS_H_
