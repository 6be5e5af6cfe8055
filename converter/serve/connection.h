// A client's connection and the request that it carries.
#ifndef BANTAM_CONVERTER_SERVE_CONNECTION_H_
#define BANTAM_CONVERTER_SERVE_CONNECTION_H_

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "serve/request.h"
#include "serve/routes.h"

namespace bantam::serve {

constexpr size_t kMostHead = 16384;  // bytes of a request's head

struct Connection {
  enum class State : uint8_t {
    kReading,
    kWaiting,    // for a model
    kStreaming,  // the head of a stream is written; its pieces arrive from a model
    kWriting,
    kDraining,  // further input is read and ignored
    kDead
  };

  Connection(int opened, uint64_t number, size_t most_body)
      : descriptor(opened), id(number), reader(kMostHead, most_body) {}
  ~Connection() { close(descriptor); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Returns true if there are bytes of a reply to write.
  bool has_output() const { return written < out[0].size() + out[1].size(); }

  int descriptor;
  uint64_t id;
  State state = State::kReading;
  uint32_t watched = 0;  // epoll events
  RequestReader reader;
  std::string pending;     // read but not parsed: bytes of the following requests
  bool peer_done = false;  // the client will send nothing more
  bool begun = false;      // a request has begun
  bool closes = false;     // close after the reply
  Target target;
  std::string method, path;  // for the log
  Clock::time_point begin, deadline;
  std::shared_ptr<std::atomic<bool>> abandoned;
  uint64_t held = 0;               // bytes of the request and its reply, counted in State::held
  int code = 0;                    // status of the reply; 0: there is none
  bool generates = false;          // the model generates texts for it
  std::array<std::string, 2> out;  // head and body of the reply
  size_t written = 0;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_CONNECTION_H_
