// Reads untrusted JSON: size and depth are limited, duplicate keys are refused, and every failure is an Error that
// names the file.
#ifndef BANTAM_CONVERTER_BASE_JSON_FILE_H_
#define BANTAM_CONVERTER_BASE_JSON_FILE_H_

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace bantam::convert {

using Json = nlohmann::json;

constexpr uint64_t kMaxJsonBytes = 100U << 20;
constexpr int kMaxJsonDepth = 64;

/// The whole contents of a regular file of at most `max_bytes`. Throws Error: kIo if it cannot be read (or is a
/// directory), kInvalid if it is too large.
std::string read_text_file(const std::filesystem::path& path, uint64_t max_bytes = kMaxJsonBytes);

/// Parses `text`; errors call it `where`. Time and memory O(size).
Json parse_json(std::string_view text, const std::string& where);

/// As above, for text that may not be JSON: returns false, sets `problem` ("is not valid JSON: ...") and leaves `json`
/// unchanged.
bool parse_json(std::string_view text, Json* json, std::string* problem);

/// Reads and parses an object (`{...}`).
Json read_json_object(const std::filesystem::path& path);

/// The value of `key`; null if `json` is not an object or does not have that key.
const Json& member(const Json& json, const char* key);

/// Throws Error (kInvalid) if the document is not an object; the error calls it `where`.
void require_object(const Json& json, const std::string& where);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_JSON_FILE_H_
