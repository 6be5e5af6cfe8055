// Suggests next steps for a path that does not work.
#ifndef BANTAM_CONVERTER_BASE_SUGGEST_H_
#define BANTAM_CONVERTER_BASE_SUGGEST_H_

#include <string>

namespace bantam::convert {

/// Says why `path` could not be opened as a .bantam file, and what to do; `reason` is the system's error text. Names a
/// .bantam file with a similar name if the same directory has one.
std::string explain_unopened(const std::string& path, const std::string& reason);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_SUGGEST_H_
