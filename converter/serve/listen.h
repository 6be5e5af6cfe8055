// Sockets that a server listens on.
#ifndef BANTAM_CONVERTER_SERVE_LISTEN_H_
#define BANTAM_CONVERTER_SERVE_LISTEN_H_

#include <cstdint>
#include <string>

namespace bantam::serve {

/// A listening socket and its address. Destroying it removes the file of a Unix socket.
class Listener {
 public:
  /// Throws Error (I/O) with the reason if the address cannot be used.
  Listener(const std::string& host, uint16_t port);
  /// Replaces a socket on which nobody listens.
  explicit Listener(const std::string& unix_path);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int descriptor() const { return descriptor_; }
  const std::string& address() const { return address_; }  // "http://127.0.0.1:8080", "unix:PATH"
  /// Returns true if it can only be reached from this machine, through one of its loopback addresses.
  bool is_local() const { return local_; }

 private:
  int descriptor_ = -1;
  std::string address_;
  std::string unix_path_;
  bool local_ = false;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_LISTEN_H_
