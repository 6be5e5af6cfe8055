// Sockets that a server listens on.
#ifndef BANTAM_CONVERTER_SERVE_LISTEN_H_
#define BANTAM_CONVERTER_SERVE_LISTEN_H_

#include <cstdint>
#include <string>

namespace bantam::serve {

/// A listening socket, and where it is reached. A Unix socket's file goes with it.
class Listener {
 public:
  /// Throws Error (I/O) that says why the address cannot be had.
  Listener(const std::string& host, uint16_t port);
  /// Takes the place of a socket that nobody listens on.
  explicit Listener(const std::string& unix_path);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int descriptor() const { return descriptor_; }
  const std::string& address() const { return address_; }  // "http://127.0.0.1:8080", "unix:PATH"
  /// Is it reached from this machine alone, under one of its own addresses?
  bool is_local() const { return local_; }

 private:
  int descriptor_ = -1;
  std::string address_;
  std::string unix_path_;
  bool local_ = false;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_LISTEN_H_
