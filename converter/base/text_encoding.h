// Text files in the wild: byte order marks, carriage returns, encodings other than UTF-8.
#ifndef BANTAM_CONVERTER_BASE_TEXT_ENCODING_H_
#define BANTAM_CONVERTER_BASE_TEXT_ENCODING_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace bantam::convert {

bool is_utf8(std::string_view text);

/// "UTF-16LE", "UTF-16BE", "UTF-32LE" or "UTF-32BE" if a file that begins with these bytes has that encoding, judging
/// by its byte order mark or, for ASCII text, by its zeros; else null.
const char* wide_encoding(std::string_view start);

/// Throws Error if the file `name`, which begins with these bytes, has such an encoding.
void refuse_wide_encoding(const std::string& name, std::string_view start);

/// Removes the carriage return at the end of a line and, on the first line of a file, the UTF-8 byte order mark at its
/// start.
void clean_line(std::string* line, bool first);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_TEXT_ENCODING_H_
