// Texts of strangers, for a terminal.
#ifndef BANTAM_CONVERTER_BASE_PRINTABLE_H_
#define BANTAM_CONVERTER_BASE_PRINTABLE_H_

#include <string>
#include <string_view>

namespace bantam::convert {

/// `text` with control characters and invalid UTF-8 made harmless for a terminal.
std::string printable(std::string_view text);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_PRINTABLE_H_
