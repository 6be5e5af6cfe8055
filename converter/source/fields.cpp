#include "source/fields.h"

#include <fmt/format.h>

namespace bantam::convert {

bool Fields::has(const std::string& key) const {
  const auto place = asked(key).find(key);
  return place != json_.end() && !place->is_null();
}

void Fields::problem(ExitCode code, const std::string& key, const std::string& why) const {
  problems_.add(code, fmt::format("{}: {}: {}", file_, key, why));
}

uint32_t Fields::count(const std::string& key, uint32_t max, std::optional<uint32_t> otherwise) const {
  if (!has(key)) {
    if (!otherwise) problem(ExitCode::kInvalid, key, "is missing");
    return otherwise.value_or(1);
  }
  const Json& value = json_.at(key);
  if (!value.is_number_unsigned() || value.get<uint64_t>() == 0 || value.get<uint64_t>() > max) {
    problem(ExitCode::kInvalid, key, fmt::format("{} is not a whole number from 1 to {}", value.dump(), max));
    return 1;
  }
  return value.get<uint32_t>();
}

double Fields::number(const std::string& key, double otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_.at(key).is_number()) {
    problem(ExitCode::kInvalid, key, json_.at(key).dump() + " is not a number");
    return otherwise;
  }
  return json_.at(key).get<double>();
}

bool Fields::flag(const std::string& key, bool otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_.at(key).is_boolean()) {
    problem(ExitCode::kInvalid, key, json_.at(key).dump() + " is neither true nor false");
    return otherwise;
  }
  return json_.at(key).get<bool>();
}

std::string Fields::text(const std::string& key, const std::string& otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_.at(key).is_string()) {
    problem(ExitCode::kInvalid, key, json_.at(key).dump() + " is not a string");
    return otherwise;
  }
  return json_.at(key).get<std::string>();
}

}  // namespace bantam::convert
