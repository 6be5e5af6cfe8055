// Reading JSON that strangers wrote: size and depth are limited, duplicate keys are refused, and every
// failure is an Error that names the file.
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

/// Whole contents of a regular file of at most `max_bytes`. Throws Error: kIo when it cannot be read (or
/// is a directory), kInvalid when it is too large.
std::string read_text_file(const std::filesystem::path& path, uint64_t max_bytes = kMaxJsonBytes);

/// Parses `text`; `where` is what errors call it. O(size), and as much again in memory as nlohmann's values take.
Json parse_json(std::string_view text, const std::string& where);

/// The same for what may be no JSON: false, with `problem` ("is not valid JSON: ..."), and `json` as it was.
bool parse_json(std::string_view text, Json* json, std::string* problem);

/// Reads and parses an object (`{...}`).
Json read_json_object(const std::filesystem::path& path);

/// The value of `key`; null where `json` is no object, or has no such key.
const Json& member(const Json& json, const char* key);

/// Throws Error (kInvalid) for a document that is no object; `where` is what the error calls it.
void require_object(const Json& json, const std::string& where);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_JSON_FILE_H_
