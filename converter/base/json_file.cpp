#include "base/json_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/size.h"

namespace bantam::convert {
namespace fs = std::filesystem;

std::string read_text_file(const fs::path& path, uint64_t max_bytes) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw Error(ExitCode::kIo, fmt::format("{}: no such file", path.string()));
  if (!fs::is_regular_file(status)) {
    throw Error(ExitCode::kIo, fmt::format("{}: is not a regular file", path.string()));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw Error(ExitCode::kIo, fmt::format("{}: cannot be opened: {}", path.string(), std::strerror(errno)));
  }
  const uint64_t size = fs::file_size(path, error);
  if (error) throw Error(ExitCode::kIo, fmt::format("{}: {}", path.string(), error.message()));
  if (size > max_bytes) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: {} bytes is more than the {} that such a file may have",
                                                path.string(), size, max_bytes));
  }
  std::string text(in_memory(size), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(size));
  if (static_cast<uint64_t>(stream.gcount()) != size) {
    throw Error(ExitCode::kIo, fmt::format("{}: ended while it was read", path.string()));
  }
  return text;
}

Json parse_json(std::string_view text, const std::string& where) {
  std::vector<std::set<std::string>> keys;
  std::string problem;
  // Called for every value; remembers the first rule broken and drops the rest.
  const auto check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxJsonDepth && problem.empty()) problem = fmt::format("is nested deeper than {}", kMaxJsonDepth);
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.empty() && !keys.back().insert(parsed.get<std::string>()).second &&
        problem.empty()) {
      problem = fmt::format("has the key \"{}\" twice", parsed.get<std::string>());
    }
    return problem.empty();
  };
  try {
    Json json = Json::parse(text, check);
    if (problem.empty()) return json;
  } catch (const Json::exception& error) {
    // nlohmann's text begins with an error id in brackets that means nothing to a user.
    const std::string_view what = error.what();
    const size_t begin = what.find("] ");
    problem = fmt::format("is not valid JSON: {}", begin == std::string_view::npos ? what : what.substr(begin + 2));
  }
  throw Error(ExitCode::kInvalid, fmt::format("{}: {}", where, problem));
}

Json read_json_object(const fs::path& path) {
  Json json = parse_json(read_text_file(path), path.string());
  if (!json.is_object()) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: is not a JSON object ({{...}})", path.string()));
  }
  return json;
}

}  // namespace bantam::convert
