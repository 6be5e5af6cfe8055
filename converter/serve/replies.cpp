#include "serve/replies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <exception>
#include <new>

namespace bantam::serve {

using convert::Error;
using convert::ExitCode;
using convert::OrderedJson;

const char* reason_of(int code) {
  switch (code) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Internal Server Error";
  }
}

Reply json_reply(const OrderedJson& object) {
  Reply reply;
  reply.body = convert::one_line(object) + "\n";
  return reply;
}

Reply error_reply(int code, std::string_view message) {
  OrderedJson object;
  const std::string shown =
      message.size() <= kMostMessage ? std::string(message) : std::string(message.substr(0, kMostMessage)) + " ...";
  object["error"] = {
      {"message", shown}, {"type", code < 500 ? "invalid_request_error" : "server_error"}, {"code", code}};
  Reply reply = json_reply(object);
  reply.code = code;
  return reply;
}

Reply error_reply(const Error& error, const std::string& file) {
  std::string message = fmt::format("{}", fmt::join(error.problems(), "; "));
  const std::string before = file + ": ";
  if (!file.empty() && message.compare(0, before.size(), before) == 0) message.erase(0, before.size());
  const ExitCode code = error.code();
  const bool caller = code == ExitCode::kInvalid || code == ExitCode::kUsage || code == ExitCode::kUnsupported;
  const int wrong = code == ExitCode::kOutOfSpace ? 507 : 500;
  return error_reply(caller ? 400 : wrong, message);
}

Reply no_memory_reply() {
  Reply reply;
  reply.code = 507;
  reply.body =
      "{\"error\":{\"message\":\"the server is out of memory; send less text at a "
      "time\",\"type\":\"server_error\",\"code\":507}}\n";
  return reply;
}

Reply late_reply() {
  Reply late = error_reply(503, "the request waited as long as --timeout allows; send it again later");
  late.retry_after = 1;
  return late;
}

Reply too_large_reply() {
  return error_reply(413, "the reply is larger than the server sends; ask for fewer texts at a time");
}

Reply reply_of_exception(const std::string& file) {
  try {
    throw;
  } catch (const NotFound& error) {
    return error_reply(404, error.what());
  } catch (const Error& error) {
    return error_reply(error, file);
  } catch (const std::bad_alloc&) {
    return no_memory_reply();
  } catch (const std::exception& error) {
    return error_reply(500, std::string("internal error: ") + error.what());
  }
}

std::vector<float> shortened(std::vector<float> vector, size_t dimensions) {
  if (dimensions != 0 && dimensions < vector.size()) vector.resize(dimensions);
  return vector;
}

std::string base64(const std::vector<float>& values) {
  static const char* const kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  bytes.reserve(values.size() * sizeof(float));
  for (const float value : values) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xFFU);
  }
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

}  // namespace bantam::serve
