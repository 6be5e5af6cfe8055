// Requests of HTTP/1.1, as strictly as RFC 9112 lets a server read them: what a proxy in front could see in another way is refused.
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
  std::string path;  // without what stands behind '?', %XX decoded
  std::string host;  // of an absolute target, else of Host, as it was sent; "": none was
  std::optional<std::string> origin, authorization;
  bool keeps_open = true;      // the connection
  bool waits_to_send = false;  // "Expect: 100-continue"
  bool chunked = false;
  std::optional<uint64_t> length;  // of the body, where that is said
};

/// Reads one request after the other from the bytes of a connection. Knows no sockets. Memory: a head of at most `most_head` bytes,
/// a body of at most `most_body`.
class RequestReader {
 public:
  enum class State : uint8_t {
    kHead,     // more bytes are wanted
    kAtBody,   // the head is complete: continue with read_body()
    kBody,     // more bytes are wanted
    kDone,     // the request is complete: continue with next()
    kRefused,  // code() and why(); nothing more is read
  };

  RequestReader(size_t most_head, size_t most_body) : most_head_(most_head), most_body_(most_body) {}

  /// Takes bytes from the front of `bytes` until the state changes or all are taken; returns how many.
  size_t take(std::string_view bytes);
  State state() const { return state_; }
  /// Has a byte of the next request come?
  bool begun() const { return state_ != State::kHead || !head_text_.empty(); }

  /// From kAtBody on.
  const RequestHead& head() const { return head_; }
  void read_body();
  /// From kDone on.
  std::string& body() { return body_; }
  /// To the next request of the connection.
  void next();

  int code() const { return code_; }
  const char* why() const { return why_; }

 private:
  size_t take_head(std::string_view bytes);
  size_t take_body(std::string_view bytes);
  size_t take_chunks(std::string_view bytes);
  void take_chunk_line();
  /// A byte of lines that end with CR and LF: refused, and false, where it cannot stand there.
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
  bool skipped_ = false;  // an empty line
  size_t line_ = 0;       // where the last line of head_text_ begins
  RequestHead head_;
  bool old_ = false;  // HTTP/1.0
  unsigned hosts_ = 0, lengths_ = 0, encodings_ = 0;
  bool absolute_ = false, bad_length_ = false, bad_encoding_ = false, bad_expectation_ = false;
  std::string body_;
  uint64_t left_ = 0;  // of the body, or of a chunk
  Chunk chunk_ = Chunk::kSize;
  std::string chunk_line_;
  size_t trailers_ = 0;  // bytes
  int code_ = 0;
  const char* why_ = "";
};

/// Name of a Host or of an origin, in small letters, without port and brackets.
std::string host_name(std::string_view host);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_REQUEST_H_
