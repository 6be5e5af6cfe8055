#include "serve/http.h"

#include <microhttpd.h>
#include <strings.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "base/printable.h"
#include "base/status_error.h"

namespace bantam::serve {

/// What the library calls back with.
struct HttpServer::State {
  const ServerOptions& options;
  Routes& routes;
  Metrics& metrics;
  MHD_Daemon* daemon = nullptr;
  std::atomic<bool> stops{false};
  std::atomic<size_t> requests{0};  // begun, not ended
  std::atomic<size_t> asleep{0};    // of them those whose texts wait
};

namespace {

using convert::Error;
using convert::ExitCode;
using convert::fail;
using convert::printable;

using State = HttpServer::State;

/// One request of a connection, from its head to its end.
struct Exchange {
  std::string method, path;
  Target target;
  std::string body;
  Reply reply;
  bool replied = false;    // `reply` is there
  bool too_large = false;  // the rest of the body is read and forgotten
  Clock::time_point begin = Clock::now();
};

struct Framing {
  unsigned lengths = 0;
  unsigned encodings = 0;
  bool bad_length = false;
  bool bad_encoding = false;
  uint64_t length = 0;
};

MHD_Result see_header(void* context, MHD_ValueKind, const char* name, const char* value) {
  auto& framing = *static_cast<Framing*>(context);
  const std::string_view text = value == nullptr ? "" : value;
  if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
    ++framing.lengths;
    framing.bad_length = text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != text.npos;
    framing.length = 0;
    for (const char c : text) framing.length = framing.length * 10 + static_cast<uint64_t>(c - '0');
  } else if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
    ++framing.encodings;
    framing.bad_encoding = framing.bad_encoding || strcasecmp(value, "chunked") != 0;
  }
  return MHD_YES;
}

/// Requests whose end a proxy in front could see elsewhere (RFC 9112, 6.1 and 6.3) are not read, and nothing behind them is.
bool refuse_framing(MHD_Connection* connection, const char* version, size_t max_body, Reply* refusal) {
  Framing framing;
  MHD_get_connection_values(connection, MHD_HEADER_KIND, see_header, &framing);
  const char* wrong = nullptr;
  int code = 400;
  if (framing.lengths > 1) {
    wrong = "there is more than one Content-Length; send one";
  } else if (framing.bad_length && framing.lengths == 1) {
    wrong = "Content-Length is no number of bytes in digits";
  } else if (framing.encodings > 0 && framing.lengths > 0) {
    wrong = "Content-Length and Transfer-Encoding exclude each other; send one";
  } else if (framing.encodings > 1 || framing.bad_encoding) {
    wrong = "Transfer-Encoding is something else than chunked; send that, or Content-Length";
  } else if (framing.encodings > 0 && std::strcmp(version, MHD_HTTP_VERSION_1_1) != 0) {
    wrong = "Transfer-Encoding needs HTTP/1.1";
  } else if (framing.length > max_body) {
    wrong = "the body is larger than --max-body allows; send fewer texts at a time";
    code = 413;
  }
  if (wrong == nullptr) return false;
  *refusal = error_reply(code, wrong);
  refusal->close = true;
  return true;
}

MHD_Result send(State& state, MHD_Connection* connection, Exchange& exchange) {
  const Reply& reply = exchange.reply;
  MHD_Response* const response =
      MHD_create_response_from_buffer(reply.body.size(), const_cast<char*>(reply.body.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply.type);
  if (!reply.allow.empty()) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, reply.allow.c_str());
  if (reply.retry_after != 0) {
    MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, std::to_string(reply.retry_after).c_str());
  }
  if (reply.close || state.stops) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  const MHD_Result result = MHD_queue_response(connection, static_cast<unsigned>(reply.code), response);
  MHD_destroy_response(response);
  exchange.replied = true;
  return result;
}

MHD_Result send(State& state, MHD_Connection* connection, Exchange& exchange, Reply reply) {
  exchange.reply = std::move(reply);
  return send(state, connection, exchange);
}

/// The head has come.
MHD_Result begin(State& state, MHD_Connection* connection, const char* version, Exchange& exchange) {
  Reply refusal;
  if (refuse_framing(connection, version, state.options.max_body, &refusal)) {
    return send(state, connection, exchange, std::move(refusal));
  }
  return MHD_YES;
}

/// All has come: what can be said at once, or a job for a model, whose reply wakes the connection.
MHD_Result finish(State& state, MHD_Connection* connection, Exchange& exchange) {
  Reply reply;
  if (!state.routes.find(exchange.path, exchange.method, &exchange.target, &reply)) {
    return send(state, connection, exchange, std::move(reply));
  }
  if (!Routes::takes_texts(exchange.target)) {
    return send(state, connection, exchange, state.routes.get(exchange.target));
  }
  if (exchange.too_large) {
    reply = error_reply(413, "the body is larger than --max-body allows; send fewer texts at a time");
    reply.close = true;
    return send(state, connection, exchange, std::move(reply));
  }
  Job job;
  Worker* model = nullptr;
  try {
    model = &state.routes.read(exchange.target, exchange.body, &job);
  } catch (const Error& error) {
    return send(state, connection, exchange, error_reply(error, ""));
  }
  if (job.texts() > model->queue()) {
    return send(state, connection, exchange,
                error_reply(413, "the request has more texts than --queue allows; send fewer at a time"));
  }
  if (!model->has_room(job.texts())) {
    reply = error_reply(429, "too many texts wait; send the request again later");
    reply.retry_after = 1;
    return send(state, connection, exchange, std::move(reply));
  }
  job.deadline = exchange.begin + std::chrono::seconds(state.options.timeout);
  job.done = [&state, connection, &exchange](Reply made) {
    exchange.reply = std::move(made);
    exchange.replied = true;
    MHD_resume_connection(connection);
    --state.asleep;
  };
  ++state.asleep;
  MHD_suspend_connection(connection);
  model->push(std::move(job));
  return MHD_YES;
}

MHD_Result on_request(void* context, MHD_Connection* connection, const char* url, const char* method,
                      const char* version, const char* data, size_t* size, void** own) {
  State& state = *static_cast<State*>(context);
  try {
    if (*own == nullptr) {
      auto* const exchange = new Exchange;
      *own = exchange;
      ++state.requests;
      exchange->path = url;
      exchange->method = method;
      return begin(state, connection, version, *exchange);
    }
    Exchange& exchange = *static_cast<Exchange*>(*own);
    if (*size != 0) {
      if (Clock::now() > exchange.begin + std::chrono::seconds(state.options.timeout)) return MHD_NO;
      exchange.too_large = exchange.too_large || exchange.body.size() + *size > state.options.max_body;
      exchange.too_large ? exchange.body.clear() : static_cast<void>(exchange.body.append(data, *size));
      *size = 0;
      return MHD_YES;
    }
    if (exchange.replied) return send(state, connection, exchange);
    return finish(state, connection, exchange);
  } catch (const std::exception&) {
    return MHD_NO;  // without memory: the connection closes
  }
}

void on_end(void* context, MHD_Connection*, void** own, MHD_RequestTerminationCode) {
  State& state = *static_cast<State*>(context);
  const std::unique_ptr<Exchange> exchange(static_cast<Exchange*>(*own));
  *own = nullptr;
  if (exchange == nullptr) return;
  --state.requests;
  const int code = exchange->replied ? exchange->reply.code : 499;  // who asked has gone, or was too slow
  const std::string& name = exchange->target.name;
  const double seconds = std::chrono::duration<double>(Clock::now() - exchange->begin).count();
  state.metrics.count_reply(name.empty() ? "other" : name, code, seconds);
  if (!state.options.log) return;
  std::fprintf(stderr, "%s %s %d %.1f ms\n", printable(exchange->method).c_str(), printable(exchange->path).c_str(),
               code, seconds * 1000);
}

void on_connection(void* context, MHD_Connection*, void**, MHD_ConnectionNotificationCode what) {
  State& state = *static_cast<State*>(context);
  what == MHD_CONNECTION_NOTIFY_STARTED ? ++state.metrics.connections : --state.metrics.connections;
}

}  // namespace

HttpServer::HttpServer(const ServerOptions& options, Listener* listener, Routes* routes, Metrics* metrics)
    : state_(new State{options, *routes, *metrics}) {
  constexpr size_t kHead = 16384;  // bytes of a connection for its head and what is read at a time
  state_->daemon =
      MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, on_request,
                       state_.get(), MHD_OPTION_LISTEN_SOCKET, static_cast<MHD_socket>(listener->descriptor()),  //
                       MHD_OPTION_NOTIFY_COMPLETED, on_end, state_.get(),                                        //
                       MHD_OPTION_NOTIFY_CONNECTION, on_connection, state_.get(),                                //
                       MHD_OPTION_CONNECTION_LIMIT, options.connections,                                         //
                       MHD_OPTION_CONNECTION_TIMEOUT, options.timeout,                                           //
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, kHead,                                                //
                       MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
  if (state_->daemon == nullptr) fail(ExitCode::kInternal, "libmicrohttpd cannot begin: {}", std::strerror(errno));
  listener->release();
}

HttpServer::~HttpServer() {
  state_->stops = true;
  const MHD_socket listening = MHD_quiesce_daemon(state_->daemon);
  if (listening != MHD_INVALID_SOCKET) close(listening);
  const Clock::time_point last = Clock::now() + std::chrono::seconds(state_->options.timeout);
  // The library must not be stopped while a connection sleeps; workers wake every one.
  while (state_->asleep > 0 || (state_->requests > 0 && Clock::now() < last)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  MHD_stop_daemon(state_->daemon);
}

}  // namespace bantam::serve
