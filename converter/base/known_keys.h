// Keys and names that people write: those that are not known are refused with the nearest one that is.
#ifndef BANTAM_CONVERTER_BASE_KNOWN_KEYS_H_
#define BANTAM_CONVERTER_BASE_KNOWN_KEYS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"

namespace bantam::convert {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. O(|a| |b|).
size_t edit_distance(const std::string& a, const std::string& b);

/// The one of `known` that a person who wrote `name` may have meant: at most one letter in four differs (whatever their
/// case), or it alone begins with `name`. Empty: none.
std::string nearest(const std::string& name, const std::vector<std::string>& known);

/// "; did you mean X?", or nothing when none is near.
std::string guess(const std::string& name, const std::vector<std::string>& known);

/// "did you mean X?" for the nearest of `known`, or a list of them when none is near.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

/// Adds a problem (invalid) for each key of `object` that is not `known`; `where` is what the problem calls the object.
void refuse_unknown_keys(const Json& object, const std::string& where, const std::vector<std::string>& known,
                         Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_KNOWN_KEYS_H_
