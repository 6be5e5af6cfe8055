// JSON that commands print: keys keep the order of insertion.
#ifndef BANTAM_CONVERTER_BASE_ORDERED_JSON_H_
#define BANTAM_CONVERTER_BASE_ORDERED_JSON_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// Keys keep the order of insertion. Floating-point numbers are f32, printed with the fewest digits that read back as
/// the same f32.
using OrderedJson =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

/// Starts an object with the "schema" that all JSON objects of `command` have.
OrderedJson json_object(std::string_view command);

/// The object in one line. Invalid UTF-8 in strings becomes U+FFFD.
std::string one_line(const OrderedJson& object);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_ORDERED_JSON_H_
