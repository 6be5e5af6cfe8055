#include "serve/access.h"

#include <algorithm>
#include <string_view>

#include "base/fail.h"
#include "base/json_file.h"
#include "base/sha256.h"

namespace bantam::serve {
namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr const char* kOpenPath = "/health";  // monitoring of the server needs no key

bool is_own_name(const std::string& name) {
  constexpr std::string_view kEnd = ".localhost", kNumbers = "127.";
  const bool below = name.size() > kEnd.size() && name.compare(name.size() - kEnd.size(), kEnd.size(), kEnd) == 0;
  const bool numbers =
      name.compare(0, kNumbers.size(), kNumbers) == 0 && name.find_first_not_of("0123456789.") == std::string::npos;
  return name == "localhost" || name == "::1" || below || numbers;
}

bool holds(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

std::string Access::allowed_origin(const RequestHead& head) const {
  if (!head.origin) return "";
  return holds(options_.origins, "*") || holds(options_.origins, *head.origin) ? *head.origin : "";
}

/// Compares digests, so that the time does not reveal how much of a key is right.
bool Access::has_key(const RequestHead& head) const {
  if (options_.keys.empty() || head.path == kOpenPath) return true;
  const std::string_view given = head.authorization ? std::string_view(*head.authorization) : std::string_view();
  if (given.substr(0, kBearer.size()) != kBearer) return false;
  const std::string digest = convert::sha256_of(given.substr(kBearer.size()));
  return std::any_of(options_.keys.begin(), options_.keys.end(),
                     [&](const std::string& key) { return convert::sha256_of(key) == digest; });
}

std::optional<Reply> Access::refuse(const RequestHead& head) const {
  const std::string name = host_name(head.host);
  if (local_ && !is_own_name(name) && !holds(options_.hosts, name)) {
    return error_reply(403, "Host is not a name of this machine; ask for localhost, or name it with --allow-host");
  }
  const bool asks_in_advance = head.method == "OPTIONS" && head.origin.has_value();
  if (head.origin && allowed_origin(head).empty()) {
    const size_t scheme = head.origin->find("://");
    const bool own = scheme != std::string::npos && !head.host.empty() && head.origin->substr(scheme + 3) == head.host;
    if (!own || asks_in_advance)
      return error_reply(403, "pages of this origin may not ask; --cors names those that may");
  }
  if (asks_in_advance) {
    Reply reply;
    reply.code = 204;
    reply.fields =
        "Access-Control-Allow-Methods: GET, POST\r\nAccess-Control-Allow-Headers: authorization, content-type\r\n"
        "Access-Control-Max-Age: 600\r\n";
    return reply;
  }
  if (has_key(head)) return std::nullopt;
  Reply reply = error_reply(401, "wanted the header \"Authorization: Bearer KEY\" with a key of the server");
  reply.fields = "WWW-Authenticate: Bearer\r\n";
  return reply;
}

std::vector<std::string> read_keys(const std::string& path) {
  constexpr uint64_t kMostBytes = 1U << 20;
  const std::string text = convert::read_text_file(path, kMostBytes);
  std::vector<std::string> keys;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string key = text.substr(begin, end - begin);
    if (!key.empty() && key.back() == '\r') key.pop_back();
    if (!key.empty()) keys.push_back(std::move(key));
    begin = end + 1;
  }
  if (keys.empty()) {
    convert::fail(convert::ExitCode::kInvalid, "--api-key-file {}: holds no key; wanted one a line", path);
  }
  return keys;
}

}  // namespace bantam::serve
