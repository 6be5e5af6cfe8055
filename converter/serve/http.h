// HTTP/1.1 around Routes: reads requests from connections and writes replies.
#ifndef BANTAM_CONVERTER_SERVE_HTTP_H_
#define BANTAM_CONVERTER_SERVE_HTTP_H_

#include <memory>

#include "serve/listen.h"
#include "serve/routes.h"
#include "serve/server.h"

namespace bantam::serve {

/// Accepts connections as soon as it is constructed. One thread reads and writes; connections that wait for a model
/// take no time.
class HttpServer {
 public:
  /// All arguments must outlive the server. Throws Error (internal) if it cannot start.
  HttpServer(const ServerOptions& options, Listener* listener, Routes* routes, Metrics* metrics);
  /// Stops accepting connections and requests, sends pending replies for at most options.timeout seconds, and closes.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_HTTP_H_
