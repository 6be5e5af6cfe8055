// Next steps for a path that does not work.
#ifndef BANTAM_CONVERTER_BASE_SUGGEST_H_
#define BANTAM_CONVERTER_BASE_SUGGEST_H_

#include <string>

namespace bantam::convert {

/// "did you mean X?" when a .bantam file with a similar name lies in the same directory, else what to check.
std::string suggest_file(const std::string& path);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_SUGGEST_H_
