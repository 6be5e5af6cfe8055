// Reads the fields of a request's JSON object.
#ifndef BANTAM_CONVERTER_SERVE_REQUEST_FIELDS_H_
#define BANTAM_CONVERTER_SERVE_REQUEST_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"

namespace bantam::serve {

/// Returns true if the object has the field with another value than null, which clients send for "not given".
bool has_field(const convert::Json& request, const char* field);

/// All throw Error (invalid) with the field's name.
std::string string_of(const convert::Json& request, const char* field);
/// Moves the strings out of a field: a list of one string or more.
std::vector<std::string> strings_of(convert::Json& request, const char* field);
/// A string, or such a list.
std::vector<std::string> string_or_strings_of(convert::Json& request, const char* field);
/// False if it is not given.
bool flag_of(const convert::Json& request, const char* field);
std::optional<uint32_t> number_of(const convert::Json& request, const char* field, uint32_t least, uint32_t most);
/// A number from `least` to `most`; `open`: `least` itself is not allowed.
std::optional<float> fraction_of(const convert::Json& request, const char* field, float least, float most,
                                 bool open = false);

/// "top" of a ranking or a search, from 1 on.
std::optional<uint64_t> top_of(const convert::Json& request);
/// Refuses a flag whose effect the server does not have; `next` says what to do.
void refuse_flag(const convert::Json& request, const char* field, bool value, const char* next);
/// Refuses fields that are not known, in the request to `path`.
void refuse_unknown(const convert::Json& request, const std::string& path, const std::vector<std::string>& known);
/// Refuses "truncate" and "truncation_direction" of text-embeddings-inference unless they say what the server does: it
/// cuts long texts at their end.
void check_truncation(const convert::Json& request);

/// Returns true if the field is tokens: a list of numbers, or a list of such lists.
bool holds_tokens(const convert::Json& request, const char* field);
/// Returns these tokens, one list per text, each of them below `vocabulary`.
std::vector<std::vector<int32_t>> tokens_of(const convert::Json& request, const char* field, uint32_t vocabulary);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_REQUEST_FIELDS_H_
