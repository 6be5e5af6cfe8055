// Next steps for a path that does not work.
#ifndef BANTAM_CONVERTER_CLI_SUGGEST_H_
#define BANTAM_CONVERTER_CLI_SUGGEST_H_

#include <cstddef>
#include <string>

namespace bantam::cli {

/// "did you mean X?" when a .bantam file with a similar name lies in the same directory, else what to check.
std::string suggest_file(const std::string& path);

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. O(|a| |b|).
size_t edit_distance(const std::string& a, const std::string& b);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_SUGGEST_H_
