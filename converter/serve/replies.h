// Bodies of HTTP replies.
#ifndef BANTAM_CONVERTER_SERVE_REPLIES_H_
#define BANTAM_CONVERTER_SERVE_REPLIES_H_

#include <string>
#include <string_view>

#include "base/error.h"
#include "run/answer_json.h"

namespace bantam::serve {

struct Reply {
  int code = 200;
  std::string body;
  const char* type = "application/json";
  std::string allow;         // of 405: the methods that the path takes
  uint32_t retry_after = 0;  // seconds; 0: not said
  bool close = false;        // nothing more is read from the connection
};

/// {"error": {"message", "type", "code"}}, as clients of OpenAI's API read it.
Reply error_reply(int code, std::string_view message);

/// What the library throws: 400 where the request is at fault, 507 without memory, else 500. `file`: the path of the model, which is
/// nobody's business; "": none.
Reply error_reply(const convert::Error& error, const std::string& file);

Reply json_reply(const convert::OrderedJson& object);

/// RFC 4648, with padding, of the numbers' bytes, lowest first.
std::string base64(const std::vector<float>& values);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_REPLIES_H_
