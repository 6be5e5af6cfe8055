// Refuses unknown keys and names that people wrote, and suggests the nearest known one.
#ifndef BANTAM_CONVERTER_BASE_KNOWN_KEYS_H_
#define BANTAM_CONVERTER_BASE_KNOWN_KEYS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"

namespace bantam::convert {

/// The number of insertions, deletions, replacements and swaps of neighbors that turn `a` into `b`. O(|a| |b|).
size_t edit_distance(const std::string& a, const std::string& b);

/// The element of `known` that a person who wrote `name` probably meant: at most one letter in four differs (ignoring
/// case), or it is the only one that begins with `name`. Empty if there is none.
std::string nearest(const std::string& name, const std::vector<std::string>& known);

/// "; did you mean X?", or "" if no known name is near.
std::string guess(const std::string& name, const std::vector<std::string>& known);

/// "did you mean X?" for the nearest of `known`, or a list of them if none is near.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

/// Adds a problem (invalid) for each key of `object` that is not in `known`; the problem calls the object `where`.
void refuse_unknown_keys(const Json& object, const std::string& where, const std::vector<std::string>& known,
                         Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_KNOWN_KEYS_H_
