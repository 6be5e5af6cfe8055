// HTTP/1.1 around Routes: what is read from connections and written to them.
#ifndef BANTAM_CONVERTER_SERVE_HTTP_H_
#define BANTAM_CONVERTER_SERVE_HTTP_H_

#include <memory>

#include "serve/listen.h"
#include "serve/routes.h"
#include "serve/server.h"

namespace bantam::serve {

/// Takes connections from when it is made. One thread reads and writes; connections whose texts wait sleep.
class HttpServer {
 public:
  /// All outlive the server. Throws Error (internal) where the library cannot begin.
  HttpServer(const ServerOptions& options, Listener* listener, Routes* routes, Metrics* metrics);
  /// Takes no connection and no request more, sends the replies that are due, for as long as options.timeout, and closes.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_HTTP_H_
