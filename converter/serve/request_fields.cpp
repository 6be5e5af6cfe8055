#include "serve/request_fields.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/known_keys.h"
#include "base/status_error.h"

namespace bantam::serve {

using convert::ExitCode;
using convert::fail;
using convert::Json;

bool has_field(const Json& request, const char* field) {
  const auto it = request.find(field);
  return it != request.end() && !it->is_null();
}

std::string string_of(const Json& request, const char* field) {
  const auto it = request.find(field);
  if (it == request.end()) fail(ExitCode::kInvalid, "\"{}\": missing", field);
  if (!it->is_string()) fail(ExitCode::kInvalid, "\"{}\": wanted a string", field);
  return it->get<std::string>();
}

std::vector<std::string> strings_of(Json& request, const char* field) {
  const auto it = request.find(field);
  if (it == request.end()) fail(ExitCode::kInvalid, "\"{}\": missing", field);
  std::vector<std::string> strings;
  const bool list = it->is_array() && !it->empty();
  if (list) strings.reserve(it->size());
  for (size_t i = 0; list && i < it->size() && (*it)[i].is_string(); ++i) {
    strings.push_back(std::move((*it)[i].get_ref<std::string&>()));
  }
  if (!list || strings.size() != it->size()) {
    fail(ExitCode::kInvalid, "\"{}\": wanted a list of one string or more", field);
  }
  return strings;
}

std::vector<std::string> string_or_strings_of(Json& request, const char* field) {
  const auto it = request.find(field);
  if (it != request.end() && it->is_string()) return {string_of(request, field)};
  return strings_of(request, field);
}

bool flag_of(const Json& request, const char* field) {
  if (!has_field(request, field)) return false;
  if (!request.at(field).is_boolean()) fail(ExitCode::kInvalid, "\"{}\": wanted true or false", field);
  return request.at(field).get<bool>();
}

std::optional<uint32_t> number_of(const Json& request, const char* field, uint32_t least, uint32_t most) {
  if (!has_field(request, field)) return std::nullopt;
  const Json& value = request.at(field);
  const bool whole = value.is_number_unsigned() && value.get<uint64_t>() >= least && value.get<uint64_t>() <= most;
  if (!whole) fail(ExitCode::kInvalid, "\"{}\": wanted a whole number from {} to {}", field, least, most);
  return static_cast<uint32_t>(value.get<uint64_t>());
}

std::optional<float> fraction_of(const Json& request, const char* field, float least, float most, bool open) {
  if (!has_field(request, field)) return std::nullopt;
  const Json& value = request.at(field);
  const double given = value.is_number() ? value.get<double>() : -1;
  const auto number = static_cast<float>(given);
  if (!value.is_number() || !(number >= least && number <= most) || (open && number == least)) {
    fail(ExitCode::kInvalid, "\"{}\": wanted a number {} {} to {}", field, open ? "above" : "from", least, most);
  }
  return number;
}

std::optional<uint64_t> top_of(const Json& request) {
  if (!request.contains("top")) return std::nullopt;
  const Json& value = request.at("top");
  if (!value.is_number_unsigned() || value == 0U) fail(ExitCode::kInvalid, "\"top\": wanted a number from 1 on");
  return value.get<uint64_t>();
}

void refuse_unknown(const Json& request, const std::string& path, const std::vector<std::string>& known) {
  convert::Problems problems;
  convert::refuse_unknown_keys(request, "the request to " + path, known, problems);
  problems.raise();
}

void refuse_flag(const Json& request, const char* field, bool value, const char* next) {
  if (has_field(request, field) && flag_of(request, field) == value) {
    fail(ExitCode::kInvalid, "\"{}\": {} is not supported; {}", field, value, next);
  }
}

void check_truncation(const Json& request) {
  refuse_flag(request, "truncate", false, "texts are cut where the model ends; leave it out");
  if (has_field(request, "truncation_direction") && string_of(request, "truncation_direction") != "Right" &&
      string_of(request, "truncation_direction") != "right") {
    fail(ExitCode::kInvalid, "\"truncation_direction\": texts are cut at their end; leave it out");
  }
}

bool holds_tokens(const Json& request, const char* field) {
  const auto it = request.find(field);
  if (it == request.end() || !it->is_array() || it->empty()) return false;
  return it->front().is_number() || it->front().is_array();
}

std::vector<std::vector<int32_t>> tokens_of(const Json& request, const char* field, uint32_t vocabulary) {
  const Json& given = request.at(field);
  std::vector<std::vector<int32_t>> all;
  const auto read = [&](const Json& list) {
    bool right = list.is_array() && !list.empty();
    std::vector<int32_t> ids;
    for (size_t i = 0; right && i < list.size(); ++i) {
      right = list[i].is_number_unsigned() && list[i].get<uint64_t>() < vocabulary;
      if (right) ids.push_back(static_cast<int32_t>(list[i].get<uint64_t>()));
    }
    if (!right) {
      fail(ExitCode::kInvalid, "\"{}\": tokens are lists of whole numbers from 0 to {}, the file's vocabulary", field,
           vocabulary - 1);
    }
    all.push_back(std::move(ids));
  };
  if (given.front().is_number()) {
    read(given);
  } else {
    for (const Json& list : given) read(list);
  }
  return all;
}

}  // namespace bantam::serve
