// Bodies of HTTP replies.
#ifndef BANTAM_CONVERTER_SERVE_REPLIES_H_
#define BANTAM_CONVERTER_SERVE_REPLIES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ordered_json.h"

namespace bantam::serve {

struct Reply {
  int code = 200;
  std::string body;
  const char* type = "application/json";
  std::string fields;        // of the head, each with CR and LF: Allow of 405, ...
  uint32_t retry_after = 0;  // seconds; 0: not said
  bool close = false;        // nothing more is read from the connection
};

/// Returns {"error": {"message", "type", "code"}}, as clients of OpenAI's API read it. Messages, which quote the
/// request, are cut at kMostMessage bytes.
constexpr size_t kMostMessage = 2000;
Reply error_reply(int code, std::string_view message);

/// Returns 507, made without nlohmann's values, which need memory to be destroyed.
Reply no_memory_reply();

/// Returns the reply for the exception that is being handled: an Error, no memory, or anything else.
Reply reply_of_exception(const std::string& file);

/// Returns the reply for an error that the library throws: 400 if the request is at fault, 507 without memory, else
/// 500. `file` is the path of the model, which clients must not learn; "": none.
Reply error_reply(const convert::Error& error, const std::string& file);

Reply json_reply(const convert::OrderedJson& object);

/// Encodes the numbers' bytes, lowest first, as in RFC 4648, with padding.
std::string base64(const std::vector<float>& values);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_REPLIES_H_
