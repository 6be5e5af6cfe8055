// Bodies of HTTP replies.
#ifndef BANTAM_CONVERTER_SERVE_REPLIES_H_
#define BANTAM_CONVERTER_SERVE_REPLIES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/ordered_json.h"

namespace bantam::serve {

struct Reply {
  int code = 200;
  std::string body;
  const char* type = "application/json";
  std::string fields;        // further lines of the head, each with CR and LF: Allow for 405, ...
  uint32_t retry_after = 0;  // seconds; 0: not sent
  bool close = false;        // nothing more is read from the connection
};

/// Returns the words behind a status code in the first line of a reply.
const char* reason_of(int code);

/// Returns {"error": {"message", "type", "code"}}, the format of OpenAI's API. Messages, which quote the request, are
/// truncated to kMostMessage bytes.
constexpr size_t kMostMessage = 2000;
Reply error_reply(int code, std::string_view message);

/// Returns 507 without using nlohmann's values, whose destructors need memory.
Reply no_memory_reply();

/// Returns 503 for a request that waited too long.
Reply late_reply();
/// Returns 413 for a request whose reply would be too large.
Reply too_large_reply();

/// Thrown for a name in a request that the server does not have: 404.
class NotFound : public convert::Error {
 public:
  explicit NotFound(std::string problem) : Error(convert::ExitCode::kInvalid, std::move(problem)) {}
};

/// Returns the reply for the exception being handled: an Error, out of memory, or any other.
Reply reply_of_exception(const std::string& file);

/// Returns the reply for an error of the library: 400 if the request is invalid, 507 if out of memory, otherwise 500.
/// `file` is the path of the model, which is hidden from clients; empty: none.
Reply error_reply(const convert::Error& error, const std::string& file);

Reply json_reply(const convert::OrderedJson& object);

/// Keeps the first `dimensions` numbers of a vector; 0: all.
std::vector<float> shortened(std::vector<float> vector, size_t dimensions);

/// Encodes the bytes of the numbers, little-endian, by RFC 4648 with padding.
std::string base64(const std::vector<float>& values);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_REPLIES_H_
