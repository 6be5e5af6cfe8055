// Parses requests of HTTP/1.1 as strictly as RFC 9112 allows, and refuses everything that a proxy could interpret
// differently.
#ifndef BANTAM_CONVERTER_SERVE_REQUEST_H_
#define BANTAM_CONVERTER_SERVE_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bantam::serve {

struct RequestHead {
  std::string method;
  std::string path;  // without the query after '?', and with %XX decoded
  std::string host;  // from an absolute target, else from Host, as sent; empty: none
  std::optional<std::string> origin, authorization;
  bool keeps_open = true;      // the connection stays open
  bool old = false;            // HTTP/1.0, whose clients know no chunks
  bool waits_to_send = false;  // "Expect: 100-continue"
  bool chunked = false;
  std::optional<uint64_t> length;  // of the body, if stated
};

/// Parses one request after the other from the bytes of a connection; it does not use sockets. Memory: a head of at
/// most `most_head` bytes and a body of at most `most_body` bytes.
class RequestReader {
 public:
  enum class State : uint8_t {
    kHead,     // needs more bytes
    kAtBody,   // the head is complete: continue with read_body()
    kBody,     // needs more bytes
    kDone,     // the request is complete: continue with next()
    kRefused,  // see code() and why(); nothing more is read
  };

  RequestReader(size_t most_head, size_t most_body) : most_head_(most_head), most_body_(most_body) {}

  /// Consumes bytes of `bytes` until the state changes or all are consumed; returns their number.
  size_t take(std::string_view bytes);
  State state() const { return state_; }
  /// Returns true if a byte of the next request has arrived.
  bool begun() const { return state_ != State::kHead || !head_text_.empty(); }

  /// Valid from kAtBody on.
  const RequestHead& head() const { return head_; }
  void read_body();
  /// Valid from kDone on.
  std::string& body() { return body_; }
  /// Continues with the next request of the connection.
  void next();

  int code() const { return code_; }
  const char* why() const { return why_; }

 private:
  size_t take_head(std::string_view bytes);
  size_t take_body(std::string_view bytes);
  size_t take_chunks(std::string_view bytes);
  void take_chunk_line();
  /// Appends a byte to a line that ends with CR and LF. Refuses the request and returns false if the byte is not
  /// allowed.
  bool put(std::string& line, char c);
  void read_head();
  void read_request_line(std::string_view line);
  void read_target(std::string_view target);
  void read_field(std::string_view line);
  void check_framing();
  void refuse(int code, const char* why);

  enum class Chunk : uint8_t { kSize, kData, kEnd, kTrailer };

  size_t most_head_, most_body_;
  State state_ = State::kHead;
  std::string head_text_;
  bool skipped_ = false;  // an empty line was skipped
  size_t line_ = 0;       // beginning of the last line of head_text_
  RequestHead head_;
  bool old_ = false;  // HTTP/1.0
  unsigned hosts_ = 0, lengths_ = 0, encodings_ = 0;
  bool absolute_ = false, bad_length_ = false, bad_encoding_ = false, bad_expectation_ = false;
  std::string body_;
  uint64_t left_ = 0;  // bytes left of the body, or of a chunk
  Chunk chunk_ = Chunk::kSize;
  std::string chunk_line_;
  size_t trailers_ = 0;  // bytes of trailers
  int code_ = 0;
  const char* why_ = "";
};

/// Returns the name of a Host or an origin in lower case, without port and brackets.
std::string host_name(std::string_view host);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_REQUEST_H_
