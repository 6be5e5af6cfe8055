// `bantam serve`: serves model files over HTTP/1.1.
#ifndef BANTAM_CONVERTER_SERVE_SERVER_H_
#define BANTAM_CONVERTER_SERVE_SERVER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "serve/access.h"
#include "serve/worker.h"

namespace bantam::serve {

struct ServerOptions {
  std::vector<std::string> files;
  std::vector<std::string> indexes;
  std::string host = "127.0.0.1";
  uint16_t port = 8080;   // 0: any free port
  std::string unix_path;  // instead of host and port
  uint32_t timeout = 30;  // seconds for receiving a request, and for its waiting time
  size_t max_body = size_t{1} << 20;
  uint32_t connections = 4096;  // open at the same time; further ones are closed at once
  // Bytes of requests that are read or wait, and of replies that clients have not read.
  uint64_t most_held = uint64_t{64} << 20;
  AccessOptions access;
  bool log = false;  // print one line per reply on standard error
  WorkerOptions worker;
};

/// Serves until SIGINT or SIGTERM, then answers the pending requests and returns. Calls `listening` with the address
/// once the server accepts connections. Blocks both signals. Throws Error if files cannot be opened or the address
/// cannot be used.
void serve(const ServerOptions& options, const std::function<void(const std::string& address)>& listening);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_SERVER_H_
