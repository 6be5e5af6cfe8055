// Scripts: which writing a token belongs to.
#ifndef BANTAM_CONVERTER_STUDENT_SCRIPTS_H_
#define BANTAM_CONVERTER_STUDENT_SCRIPTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// "latin", "greek", ...: the names that recipes may use.
const std::vector<std::string>& script_names();

/// True when every code point of `text` (UTF-8) belongs to one of `scripts` or to all of them: digits, punctuation, symbols,
/// combining marks. Unicode's blocks decide (Blocks.txt), which puts a few unassigned or shared code points with their block.
bool in_scripts(std::string_view text, const std::vector<std::string>& scripts);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_SCRIPTS_H_
