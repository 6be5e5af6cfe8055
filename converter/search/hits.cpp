#include "search/hits.h"

#include <algorithm>

#include "base/fail.h"
#include "base/ordered_json.h"
#include "base/printable.h"
#include "search/record_source.h"

namespace bantam::convert {
namespace {

Json stored_value(std::string_view text, const std::string& path) {
  Json value;
  std::string problem;
  if (!parse_json(text, &value, &problem)) {
    fail(ExitCode::kInvalid, "{}: not a sound search index (a field's value {}); make it again with bantam index", path,
         problem);
  }
  return value;
}

/// `typed`: the wanted value as JSON; null if it is none.
bool is_value(const Json& value, const std::string& wanted, const Json& typed) {
  if (value.is_string()) return value.get_ref<const std::string&>() == wanted;
  if (value.is_boolean()) return typed.is_boolean() && typed == value;
  return value.is_number() && typed.is_number() && typed == value;
}

/// Returns true if a JSON text is the string `wanted` or `typed`. Most values are strings without escapes, which need not
/// be parsed.
bool is_value(std::string_view text, const std::string& wanted, const Json& typed, const std::string& path) {
  const bool plain = text.size() >= 2 && text.front() == '"' && text.find('\\') == std::string_view::npos;
  if (plain) return text.substr(1, text.size() - 2) == wanted;
  const Json value = stored_value(text, path);
  const auto is_wanted = [&](const Json& one) { return is_value(one, wanted, typed); };
  return value.is_array() ? std::any_of(value.begin(), value.end(), is_wanted) : is_wanted(value);
}

/// Returns for each number of a value, from 1 on, 1 if the condition holds for it; [0] is 0.
std::vector<uint8_t> values_where(const SearchIndex& index, const std::string& path, uint32_t field,
                                  const std::string& wanted) {
  Json typed;
  std::string problem;
  if (!parse_json(wanted, &typed, &problem)) typed = Json();
  std::vector<uint8_t> holds(size_t{index.value_count(field)} + 1);
  for (uint32_t v = 1; v < holds.size(); ++v) holds[v] = is_value(index.value(field, v), wanted, typed, path) ? 1 : 0;
  return holds;
}

uint32_t field_named(const SearchIndex& index, const char* where, const std::string& name) {
  std::string names;
  for (uint32_t f = 0; f < index.field_count(); ++f) {
    if (index.field(f) == name) return f;
    names += (names.empty() ? "" : ", ") + std::string(index.field(f));
  }
  if (names.empty()) {
    fail(ExitCode::kUsage, "{}: the index has no fields; make it with bantam index --keep or --keep-all", where);
  }
  fail(ExitCode::kUsage, "{}: the index has no field \"{}\"; it has {}", where, printable(name), printable(names));
}

}  // namespace

std::vector<Condition> parse_conditions(const std::vector<std::string>& words) {
  std::vector<Condition> conditions;
  for (const std::string& word : words) {
    const size_t at = word.find('=');
    if (at == std::string::npos || at == 0)
      fail(ExitCode::kUsage, "--where {}: wanted a field and its value, such as team=billing", printable(word));
    conditions.push_back({word.substr(0, at), word.substr(at + 1)});
  }
  return conditions;
}

std::vector<Condition> read_conditions(const Json& object, const char* where) {
  if (!object.is_object())
    fail(ExitCode::kInvalid, "{}: wanted an object of fields and values, such as {{\"team\": \"billing\"}}", where);
  std::vector<Condition> conditions;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_string() && !value.is_number() && !value.is_boolean())
      fail(ExitCode::kInvalid, "{}: \"{}\": wanted a string, a number, true or false", where, printable(name));
    conditions.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  return conditions;
}

std::vector<uint8_t> entries_where(const SearchIndex& index, const std::string& path, const char* where,
                                   const std::vector<Condition>& conditions) {
  if (conditions.empty()) return {};
  std::vector<uint8_t> all(index.count(), 1);
  for (const Condition& condition : conditions) {
    const uint32_t field = field_named(index, where, condition.field);
    const std::vector<uint8_t> holds = values_where(index, path, field, condition.value);
    for (uint32_t i = 0; i < index.count(); ++i)
      all[i] = static_cast<uint8_t>(all[i] & holds[index.value_of(field, index.place(i))]);
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> stored_fields(const SearchIndex& index, const std::string& path,
                                                               uint32_t entry) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (uint32_t f = 0; f < index.field_count(); ++f) {
    const uint32_t number = index.value_of(f, index.place(entry));
    if (number == 0) continue;
    fields.emplace_back(index.field(f), json_text(stored_value(index.value(f, number), path)));
  }
  return fields;
}

size_t hits_bytes(const SearchIndex& index, const std::vector<Found>& found) {
  size_t bytes = 0;
  for (const Found& hit : found) {
    bytes += index.text(hit.entry).size();
    for (uint32_t f = 0; f < index.field_count(); ++f) {
      const uint32_t number = index.value_of(f, index.place(hit.entry));
      if (number != 0) bytes += index.field(f).size() + index.value(f, number).size();
    }
  }
  return bytes;
}

std::string plain_value(const std::string& json) {
  Json value;
  std::string problem;
  return parse_json(json, &value, &problem) && value.is_string() ? value.get<std::string>() : json;
}

std::string hits_json(const SearchIndex& index, const std::string& path, const std::string& query,
                      const std::vector<Found>& found) {
  OrderedJson object = json_object("search");
  object["text"] = query;
  std::string text = one_line(object);
  text.back() = ',';
  text += "\"found\":[";
  for (const Found& hit : found) {
    OrderedJson one = OrderedJson::object();
    one["line"] = index.number(hit.entry);
    if (index.has_ids()) one["id"] = index.id(index.place(hit.entry));
    one["score"] = hit.score;
    one["text"] = index.text(hit.entry);
    if (&hit != &found.front()) text += ',';
    text += one_line(one);
    if (index.field_count() == 0) continue;
    // Values stay the JSON texts that they are: OrderedJson has numbers of 32 bits.
    std::string fields;
    for (const auto& [name, value] : stored_fields(index, path, hit.entry))
      fields += (fields.empty() ? "" : ",") + one_line(OrderedJson(name)) + ":" + value;
    text.back() = ',';
    text += "\"fields\":{" + fields + "}}";
  }
  return text + "]}";
}

}  // namespace bantam::convert
