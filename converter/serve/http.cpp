#include "serve/http.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "base/status_error.h"
#include "serve/connection.h"
#include "serve/request.h"
#include "serve/room.h"

namespace bantam::serve {
namespace {

using convert::ExitCode;
using convert::fail;
using convert::printable;

constexpr size_t kRead = size_t{64} << 10;       // bytes to read at a time
constexpr size_t kMostUnread = size_t{4} << 20;  // bytes of a stream that a client has not read
constexpr auto kTick = std::chrono::milliseconds(100);
constexpr auto kDrain = std::chrono::seconds(1);  // the time for a refused client to read the reason
constexpr uint64_t kWake = 0, kListen = 1;        // epoll's ids of these descriptors; connections have ids from 2 on

}  // namespace

struct HttpServer::State {
  State(const ServerOptions& all, Listener* listening, Routes* paths, Metrics* counts)
      : options(all), routes(*paths), metrics(*counts), access(all.access, listening->is_local()) {}

  void loop() noexcept;
  void stop() noexcept;
  void wake() const {
    const uint64_t one = 1;
    static_cast<void>(!write(waker, &one, sizeof(one)));  // if it would block, the loop wakes anyway
  }

  const ServerOptions& options;
  Routes& routes;
  Metrics& metrics;
  Access access;
  int poller = -1, waker = -1, listener = -1;
  std::atomic<bool> stops{false};
  std::thread thread;

  /// The replies of models, with the ids of their connections. `part`: the reply's body is a piece of a stream.
  struct Made {
    uint64_t id = 0;
    Reply reply;
    bool part = false;
  };
  std::mutex mutex;
  std::list<Made> made;

 private:
  using Connections = std::unordered_map<uint64_t, std::unique_ptr<Connection>>;

  /// Running models refer to this object, so it must wait for them.
  bool ends() const { return asleep == 0 && (connections.empty() || Clock::now() >= last); }
  void accept_all();
  void take_made();
  void tick();
  void watch(Connection& connection);
  void handle(Connection& connection, uint32_t events);
  void read_more(Connection& connection);
  void go_on(Connection& connection);
  void check_head(Connection& connection);
  void answer(Connection& connection);
  void hold(Connection& connection, uint64_t bytes);
  void send(Connection& connection, Reply reply);
  void write_head(Connection& connection, const Reply& reply, const std::string& framing);
  void stream(Connection& connection, const std::string& bytes);
  void end_stream(Connection& connection, const std::string& bytes);
  void write_more(Connection& connection);
  void written(Connection& connection);
  void drop(Connection& connection) noexcept;
  /// Call after every event on a connection; it may destroy the connection.
  void settle(Connection& connection);
  void bury(Connection& connection) noexcept;
  void count(Connection& connection) noexcept;

  Connections connections;
  uint64_t next_id = kListen + 1;
  uint64_t held = 0;  // bytes of all requests that are read or wait, and of unwritten replies
  size_t asleep = 0;  // number of connections that wait for a model
  bool listens = true;
  Clock::time_point last;  // the time at which everything ends after `stops` is set
};

void HttpServer::State::watch(Connection& connection) {
  const bool reads =
      connection.state == Connection::State::kReading || connection.state == Connection::State::kDraining;
  uint32_t wanted = 0;
  if (!connection.peer_done) wanted |= EPOLLRDHUP;
  if (reads && !connection.peer_done) wanted |= EPOLLIN;
  if (connection.state == Connection::State::kWriting || connection.has_output()) wanted |= EPOLLOUT;
  if (wanted == connection.watched) return;
  epoll_event event = {};
  event.events = wanted;
  event.data.u64 = connection.id;
  epoll_ctl(poller, EPOLL_CTL_MOD, connection.descriptor, &event);
  connection.watched = wanted;
}

void HttpServer::State::accept_all() {
  for (;;) {
    const int opened = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (opened < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      // No file descriptors left: stop listening until the next tick.
      epoll_ctl(poller, EPOLL_CTL_DEL, listener, nullptr);
      listens = false;
      return;
    }
    if (connections.size() >= options.connections) {
      close(opened);
      continue;
    }
    std::unique_ptr<Connection> added;
    try {
      added = std::make_unique<Connection>(opened, next_id++, options.max_body);
    } catch (const std::bad_alloc&) {
      close(opened);
      return;
    }
    Connection& connection = *added;
    connection.deadline = Clock::now() + std::chrono::seconds(options.timeout);
    epoll_event event = {};
    event.events = connection.watched = EPOLLIN | EPOLLRDHUP;
    event.data.u64 = connection.id;
    if (epoll_ctl(poller, EPOLL_CTL_ADD, opened, &event) != 0) continue;  // destroying `added` closes it
    connections.emplace(connection.id, std::move(added));
    ++metrics.connections;
  }
}

/// Updates the number of bytes that a connection's request and reply take.
void HttpServer::State::hold(Connection& connection, uint64_t bytes) {
  held = held - connection.held + bytes;
  connection.held = bytes;
}

void HttpServer::State::count(Connection& connection) noexcept {
  if (!connection.begun) return;
  connection.begun = false;
  const int code = connection.code != 0 ? connection.code : 499;  // 499: the client is gone or was too slow
  const double seconds = std::chrono::duration<double>(Clock::now() - connection.begin).count();
  try {
    metrics.count_reply(connection.target.name.empty() ? "other" : connection.target.name, code, seconds);
    if (!options.log) return;
    std::fprintf(stderr, "%s %s %d %.1f ms\n", printable(connection.method).c_str(), printable(connection.path).c_str(),
                 code, seconds * 1000);
  } catch (const std::exception&) {  // out of memory: the reply is not counted
  }
}

void HttpServer::State::drop(Connection& connection) noexcept {
  const bool sends =
      connection.state == Connection::State::kWriting || connection.state == Connection::State::kStreaming;
  if (sends) connection.code = 0;  // the reply was not completely sent
  count(connection);
  if (connection.abandoned != nullptr) *connection.abandoned = true;
  hold(connection, 0);
  connection.state = Connection::State::kDead;
}

void HttpServer::State::bury(Connection& connection) noexcept {
  --metrics.connections;
  connections.erase(connection.id);
}

void HttpServer::State::settle(Connection& connection) {
  // Continue with the requests that followed the answered one.
  while (connection.state == Connection::State::kReading && !connection.pending.empty()) go_on(connection);
  connection.state == Connection::State::kDead ? bury(connection) : watch(connection);
}

void HttpServer::State::read_more(Connection& connection) {
  std::array<char, kRead> bytes;
  for (;;) {
    const ssize_t got = recv(connection.descriptor, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got <= 0) return drop(connection);  // the client closed the connection
    if (connection.state == Connection::State::kDraining) return;
    connection.pending.assign(bytes.data(), static_cast<size_t>(got));
    return go_on(connection);
  }
}

/// Parses the bytes that have been read until a request waits or nothing is left.
void HttpServer::State::go_on(Connection& connection) {
  while (connection.state == Connection::State::kReading) {
    RequestReader& reader = connection.reader;
    const size_t used = reader.take(connection.pending);
    connection.pending.erase(0, used);
    if (reader.begun() && !connection.begun) {
      connection.begun = true;
      connection.code = 0;
      connection.begin = Clock::now();
      connection.deadline = connection.begin + std::chrono::seconds(options.timeout);
    }
    switch (reader.state()) {
      case RequestReader::State::kAtBody:
        check_head(connection);
        break;
      case RequestReader::State::kDone:
        answer(connection);
        break;
      case RequestReader::State::kRefused: {
        connection.begun = true;
        connection.closes = true;
        send(connection, error_reply(reader.code(), reader.why()));
        break;
      }
      default:
        hold(connection, reader.body().capacity());
        if (held > options.most_held && !reader.body().empty()) {
          Reply reply = error_reply(503, "too many requests are read at a time; send the request again later");
          reply.retry_after = 1;
          connection.closes = true;
          send(connection, std::move(reply));
        }
        if (connection.state == Connection::State::kReading && connection.pending.empty()) return;
    }
  }
}

void HttpServer::State::check_head(Connection& connection) {
  const RequestHead& head = connection.reader.head();
  connection.method = head.method;
  connection.path = head.path;
  connection.closes = !head.keeps_open;
  const bool sends = head.chunked || head.length.value_or(0) != 0;
  std::optional<Reply> refusal = access.refuse(head);
  if (!refusal && sends && held + head.length.value_or(0) > options.most_held) {
    refusal = error_reply(503, "too many requests are read at a time; send the request again later");
    refusal->retry_after = 1;
  }
  if (refusal) {
    connection.closes = connection.closes || sends;
    return send(connection, *std::move(refusal));
  }
  if (head.waits_to_send) {
    constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    const ssize_t sent = ::send(connection.descriptor, kGoOn.data(), kGoOn.size(), MSG_NOSIGNAL);
    // The connection then closes after the reply.
    if (sent != static_cast<ssize_t>(kGoOn.size())) connection.closes = true;
  }
  connection.reader.read_body();
}

/// Replies at once if possible; otherwise starts a job for a model, whose reply wakes the loop.
void HttpServer::State::answer(Connection& connection) {
  Reply reply;
  if (!routes.find(connection.path, connection.method, &connection.target, &reply)) {
    return send(connection, std::move(reply));
  }
  if (!Routes::takes_texts(connection.target)) return send(connection, routes.get(connection.target));
  Job job;
  Worker* model = nullptr;
  try {
    require_room(8 * connection.reader.body().size());
    model = routes.read(connection.target, std::exchange(connection.reader.body(), {}), &job, &reply);
  } catch (const std::exception&) {
    return send(connection, reply_of_exception(""));
  }
  if (model == nullptr) return send(connection, std::move(reply));
  if (!model->has_room(job)) {
    reply = error_reply(429, "too many texts wait; send the request again later");
    reply.retry_after = 1;
    return send(connection, std::move(reply));
  }
  job.deadline = connection.begin + std::chrono::seconds(options.timeout);
  connection.abandoned = std::make_shared<std::atomic<bool>>(false);
  job.abandoned = connection.abandoned;
  // Allocate the reply's list node now, so that passing on the reply needs no memory.
  const auto place = std::make_shared<std::list<Made>>(1);
  place->front().id = connection.id;
  job.done = [this, place](Reply done) {
    place->front().reply = std::move(done);
    const std::lock_guard<std::mutex> lock(mutex);
    made.splice(made.end(), *place);
    wake();
  };
  connection.generates = job.completion != nullptr;
  if (connection.generates) {
    job.part = [this, id = connection.id](std::string bytes) {
      std::list<Made> piece(1);
      piece.front().id = id;
      piece.front().part = true;
      piece.front().reply.body = std::move(bytes);
      const std::lock_guard<std::mutex> lock(mutex);
      made.splice(made.end(), piece);
      wake();
    };
  }
  model->push(std::move(job));
  connection.state = Connection::State::kWaiting;
  ++asleep;
}

void HttpServer::State::take_made() {
  uint64_t ignored = 0;
  static_cast<void>(!read(waker, &ignored, sizeof(ignored)));
  for (;;) {
    std::list<Made> one;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (made.empty()) return;
      one.splice(one.end(), made, made.begin());
    }
    const bool part = one.front().part;
    if (!part) --asleep;
    const auto found = connections.find(one.front().id);
    if (found == connections.end()) continue;
    Connection& connection = *found->second;
    if (!part) connection.abandoned = nullptr;
    try {
      if (part) {
        stream(connection, one.front().reply.body);
      } else if (connection.state == Connection::State::kStreaming) {
        connection.closes = connection.closes || one.front().reply.close;
        end_stream(connection, one.front().reply.body);
      } else {
        send(connection, std::move(one.front().reply));
      }
      settle(connection);
    } catch (const std::exception&) {
      drop(connection);
      bury(connection);
    }
  }
}

void HttpServer::State::send(Connection& connection, Reply reply) {
  connection.closes = connection.closes || reply.close || stops || connection.peer_done;
  connection.code = reply.code;
  const bool no_body = connection.method == "HEAD" || reply.code == 204;
  write_head(connection, reply, "Content-Length: " + std::to_string(reply.body.size()) + "\r\n");
  connection.out[1] = no_body ? std::string() : std::move(reply.body);
  connection.written = 0;
  connection.state = Connection::State::kWriting;
  // One deadline for the whole reply, however slowly the client reads it.
  connection.deadline = Clock::now() + std::chrono::seconds(options.timeout);
  hold(connection, connection.out[1].size());
  write_more(connection);
}

void HttpServer::State::write_head(Connection& connection, const Reply& reply, const std::string& framing) {
  connection.code = reply.code;
  std::string& head = connection.out[0];
  head = "HTTP/1.1 " + std::to_string(reply.code) + " " + reason_of(reply.code) + "\r\n";
  if (reply.code != 204) head += std::string("Content-Type: ") + reply.type + "\r\n" + framing;
  head += reply.fields;
  if (reply.retry_after != 0) head += "Retry-After: " + std::to_string(reply.retry_after) + "\r\n";
  if (!options.access.origins.empty()) head += "Vary: Origin\r\n";
  const std::string origin = access.allowed_origin(connection.reader.head());
  if (!origin.empty()) head += "Access-Control-Allow-Origin: " + origin + "\r\n";
  if (connection.closes) head += "Connection: close\r\n";
  head += "\r\n";
  connection.written = 0;
}

/// Appends a piece of a stream. A client that does not read the pieces within the timeout, or that has more than
/// kMostUnread bytes to read, is dropped.
void HttpServer::State::stream(Connection& connection, const std::string& bytes) {
  using At = Connection::State;
  const bool idle = !connection.has_output();
  if (connection.state == At::kWaiting) {
    const bool chunked = !connection.reader.head().old;
    connection.closes = connection.closes || !chunked || stops;
    Reply reply;
    reply.type = "text/event-stream; charset=utf-8";
    reply.fields = "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n";
    write_head(connection, reply, chunked ? "Transfer-Encoding: chunked\r\n" : "");
    connection.state = At::kStreaming;
  } else if (idle) {
    for (std::string& piece : connection.out) piece.clear();
    connection.written = 0;
  }
  if (connection.state != At::kStreaming || bytes.empty()) return;
  if (idle) connection.deadline = Clock::now() + std::chrono::seconds(options.timeout);
  std::string& out = connection.out[1];
  if (connection.reader.head().old) {
    out += bytes;
  } else {
    char size[24];
    std::snprintf(size, sizeof(size), "%zx\r\n", bytes.size());
    out += size + bytes + "\r\n";
  }
  hold(connection, out.size());
  if (out.size() > kMostUnread || held > options.most_held) return drop(connection);
  write_more(connection);
}

void HttpServer::State::end_stream(Connection& connection, const std::string& bytes) {
  stream(connection, bytes);
  if (connection.state != Connection::State::kStreaming) return;
  if (!connection.reader.head().old) connection.out[1] += "0\r\n\r\n";
  connection.state = Connection::State::kWriting;
  connection.deadline = Clock::now() + std::chrono::seconds(options.timeout);
  write_more(connection);
}

void HttpServer::State::write_more(Connection& connection) {
  const auto& out = connection.out;
  while (connection.written < out[0].size() + out[1].size()) {
    const size_t of_head = std::min(connection.written, out[0].size()), of_body = connection.written - of_head;
    std::array<iovec, 2> pieces = {{{const_cast<char*>(out[0].data()) + of_head, out[0].size() - of_head},
                                    {const_cast<char*>(out[1].data()) + of_body, out[1].size() - of_body}}};
    msghdr message = {};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t sent = sendmsg(connection.descriptor, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (sent < 0) return drop(connection);
    connection.written += static_cast<size_t>(sent);
  }
  if (connection.state == Connection::State::kWriting) written(connection);
}

void HttpServer::State::written(Connection& connection) {
  count(connection);
  for (std::string& piece : connection.out) std::string().swap(piece);
  hold(connection, 0);
  connection.generates = false;
  connection.target = {};
  connection.method.clear();
  connection.path.clear();
  if (connection.closes) {
    // Closing a socket with unread input would discard data that has been sent but not yet received.
    shutdown(connection.descriptor, SHUT_WR);
    connection.pending.clear();
    connection.state = Connection::State::kDraining;
    connection.deadline = std::min(connection.deadline, Clock::now() + kDrain);
    if (connection.peer_done) return drop(connection);
  } else {
    connection.reader.next();
    connection.state = Connection::State::kReading;
    connection.deadline = Clock::now() + std::chrono::seconds(options.timeout);
  }
}

void HttpServer::State::handle(Connection& connection, uint32_t events) {
  using At = Connection::State;
  const bool ended = (events & EPOLLRDHUP) != 0 && connection.state != At::kReading;
  if (ended) connection.peer_done = true;  // a client that has finished sending may still read
  // A client that closes its side has left: the server stops generating its texts, so that others get their contexts.
  const bool leaves =
      ended && connection.generates && (connection.state == At::kWaiting || connection.state == At::kStreaming);
  if ((events & (EPOLLERR | EPOLLHUP)) != 0 || (ended && connection.state == At::kDraining) || leaves) {
    drop(connection);
  } else if (connection.state == At::kWriting || connection.state == At::kStreaming) {
    write_more(connection);
  } else if (connection.state == At::kReading || connection.state == At::kDraining) {
    read_more(connection);
  }
  settle(connection);
}

/// Closes connections that have exceeded their deadlines.
void HttpServer::State::tick() {
  const Clock::time_point now = Clock::now();
  std::vector<Connection*> late;
  // Texts that are still being generated when the time for stopping is over are not finished.
  const bool over = stops && last != Clock::time_point() && now >= last;
  for (const auto& [id, connection] : connections) {
    // The model enforces the deadline of a request that waits; a stream waits unless the client has bytes to read.
    const bool waits = connection->state == Connection::State::kWaiting ||
                       (connection->state == Connection::State::kStreaming && !connection->has_output());
    if (waits ? over && connection->generates : now >= connection->deadline) late.push_back(connection.get());
  }
  for (Connection* connection : late) {
    drop(*connection);
    bury(*connection);
  }
  if (listens || stops) return;
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = kListen;
  listens = epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) == 0;
}

/// Stops accepting connections and requests.
void HttpServer::State::stop() noexcept {
  last = Clock::now() + std::chrono::seconds(options.timeout);
  if (listens) epoll_ctl(poller, EPOLL_CTL_DEL, listener, nullptr);
  listens = false;
  for (auto it = connections.begin(); it != connections.end();) {
    Connection& connection = *(it++)->second;
    if (connection.begun || connection.state != Connection::State::kReading) continue;
    drop(connection);
    bury(connection);
  }
}

void HttpServer::State::loop() noexcept {
  constexpr size_t kEvents = 64;
  std::array<epoll_event, kEvents> events;
  Clock::time_point next_tick = Clock::now() + kTick;
  bool stopping = false;
  for (;;) {
    if (stops && !std::exchange(stopping, true)) stop();
    if (stopping && ends()) return;
    const int count = epoll_wait(poller, events.data(), kEvents, static_cast<int>(kTick.count()));
    for (int i = 0; i < count; ++i) {
      const uint64_t id = events[static_cast<size_t>(i)].data.u64;
      try {
        if (id == kWake) {
          take_made();
        } else if (id == kListen) {
          accept_all();
        } else if (const auto found = connections.find(id); found != connections.end()) {
          handle(*found->second, events[static_cast<size_t>(i)].events);
        }
      } catch (const std::exception&) {  // out of memory: only this connection ends
        const auto found = connections.find(id);
        if (found == connections.end()) continue;
        drop(*found->second);
        bury(*found->second);
      }
    }
    if (Clock::now() < next_tick) continue;
    next_tick = Clock::now() + kTick;
    try {
      tick();
    } catch (const std::bad_alloc&) {  // try again at the next tick
    }
  }
}

HttpServer::HttpServer(const ServerOptions& options, Listener* listener, Routes* routes, Metrics* metrics)
    : state_(new State(options, listener, routes, metrics)) {
  State& state = *state_;
  state.listener = listener->descriptor();
  state.poller = epoll_create1(EPOLL_CLOEXEC);
  state.waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const auto add = [&state](int descriptor, uint64_t id) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = id;
    return descriptor >= 0 && epoll_ctl(state.poller, EPOLL_CTL_ADD, descriptor, &event) == 0;
  };
  if (!add(state.waker, kWake) || !add(state.listener, kListen)) {
    fail(ExitCode::kInternal, "the server cannot wait for connections: {}", std::strerror(errno));
  }
  state.thread = std::thread([&state] { state.loop(); });
}

HttpServer::~HttpServer() {
  state_->stops = true;
  state_->wake();
  state_->thread.join();
  for (const int descriptor : {state_->poller, state_->waker}) close(descriptor);
}

}  // namespace bantam::serve
