// Text files as people have them: byte order marks, carriage returns, other encodings than UTF-8.
#ifndef BANTAM_CONVERTER_BASE_TEXT_ENCODING_H_
#define BANTAM_CONVERTER_BASE_TEXT_ENCODING_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace bantam::convert {

bool is_utf8(std::string_view text);

/// "UTF-16LE", "UTF-16BE", "UTF-32LE" or "UTF-32BE" if a file that begins with these bytes is in that encoding, by its byte
/// order mark or, for ASCII text, by its zeros; else null.
const char* wide_encoding(std::string_view start);

/// Throws Error for a file `name` that begins with these bytes and is in such an encoding.
void refuse_wide_encoding(const std::string& name, std::string_view start);

/// Takes the carriage return from the end of a line and, if it is the file's first, UTF-8's byte order mark from its begin.
void clean_line(std::string* line, bool first);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_TEXT_ENCODING_H_
