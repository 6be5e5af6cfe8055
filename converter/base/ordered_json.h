// JSON that commands print: keys stay in the order in which they were put.
#ifndef BANTAM_CONVERTER_BASE_ORDERED_JSON_H_
#define BANTAM_CONVERTER_BASE_ORDERED_JSON_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// Keys in the order in which they were put. Numbers are kept as f32: printed with the fewest digits that
/// read back as the same f32.
using OrderedJson =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

/// Starts an object with the "schema" that every JSON object of `command` carries.
OrderedJson json_object(std::string_view command);

/// The object without line breaks. Invalid UTF-8 in strings becomes U+FFFD.
std::string one_line(const OrderedJson& object);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_ORDERED_JSON_H_
