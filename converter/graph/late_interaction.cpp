#include "graph/late_interaction.h"

#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "base/json_file.h"

namespace bantam::convert {
namespace {

constexpr int32_t kMostId = std::numeric_limits<int32_t>::max();

Json side_json(const LateInteraction::Side& side) {
  return {{"marker", side.marker}, {"prompt", side.prompt}, {"max_tokens", side.max_tokens}};
}

/// Reads members of an untrusted object.
class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("is not an object");
  }

  int32_t number(const char* key, int32_t least) const {
    const Json& value = at(key);
    if (!value.is_number_integer() || value < least || value > kMostId) {
      fail(fmt::format("{}: wanted a whole number of at least {}", key, least));
    }
    return value.get<int32_t>();
  }
  std::string text(const char* key) const {
    if (!at(key).is_string()) fail(fmt::format("{}: wanted a text", key));
    return at(key).get<std::string>();
  }
  const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(fmt::format("{}: is missing", key));
    return *found;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::kInvalid, fmt::format("{}: {}; convert the model again", where_, what));
  }

 private:
  const Json& json_;
  std::string where_;
};

LateInteraction::Side read_side(const Reader& whole, const char* key, const std::string& where) {
  const Reader reader(whole.at(key), where + ": " + key);
  LateInteraction::Side side;
  side.marker = reader.number("marker", -1);
  side.prompt = reader.text("prompt");
  side.max_tokens = static_cast<uint32_t>(reader.number("max_tokens", 0));
  return side;
}

}  // namespace

std::string write_late_interaction(const LateInteraction& settings) {
  const Json json = {{"query", side_json(settings.query)},
                     {"document", side_json(settings.document)},
                     {"filled", settings.filled},
                     {"filler", settings.filler},
                     {"skipped", settings.skipped}};
  return json.dump();
}

LateInteraction parse_late_interaction(const std::string& text, const std::string& file) {
  const std::string where = fmt::format("{}: property {}", file, kLateInteraction);
  const Json json = parse_json(text, where);
  const Reader reader(json, where);
  LateInteraction settings;
  settings.query = read_side(reader, "query", where);
  settings.document = read_side(reader, "document", where);
  settings.filled = static_cast<uint32_t>(reader.number("filled", 0));
  settings.filler = reader.number("filler", -1);
  const Json& skipped = reader.at("skipped");
  if (!skipped.is_array()) reader.fail("skipped: wanted a list of ids");
  for (const Json& id : skipped) {
    if (!id.is_number_integer() || id < 0 || id > kMostId) reader.fail("skipped: wanted a list of ids");
    const auto value = id.get<int32_t>();
    if (!settings.skipped.empty() && value <= settings.skipped.back()) reader.fail("skipped: ids do not ascend");
    settings.skipped.push_back(value);
  }
  if (settings.filled != 0 && settings.filler < 0) reader.fail("filler: is missing, though queries are filled up");
  return settings;
}

}  // namespace bantam::convert
