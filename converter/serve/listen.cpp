#include "serve/listen.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "base/status_error.h"

namespace bantam::serve {
namespace {

using convert::ExitCode;
using convert::fail;

constexpr int kBacklog = 1024;
constexpr int kKind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

/// Returns the URL of the address that the socket is bound to; sets `local` to whether it is a loopback address.
std::string shown(int descriptor, bool* local) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  char host[NI_MAXHOST], port[NI_MAXSERV];
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (getsockname(descriptor, generic, &size) != 0 ||
      getnameinfo(generic, size, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "http://?";
  }
  const bool v6 = address.ss_family == AF_INET6;
  const std::string_view name = host;
  *local = v6 ? name == "::1" : name.substr(0, 4) == "127.";
  return std::string("http://") + (v6 ? "[" : "") + host + (v6 ? "]:" : ":") + port;
}

}  // namespace

Listener::Listener(const std::string& host, uint16_t port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int wrong = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (wrong == EAI_MEMORY) throw std::bad_alloc();
  if (wrong != 0) fail(ExitCode::kIo, "--host {}: {}", host, gai_strerror(wrong));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, freeaddrinfo);
  int cause = 0;
  for (const addrinfo* one = found; one != nullptr && descriptor_ < 0; one = one->ai_next) {
    const int made = socket(one->ai_family, kKind, 0);
    const int yes = 1;
    if (made >= 0) setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (made >= 0 && bind(made, one->ai_addr, one->ai_addrlen) == 0 && ::listen(made, kBacklog) == 0) {
      descriptor_ = made;
    } else {
      cause = errno;
      if (made >= 0) close(made);
    }
  }
  if (descriptor_ < 0) {
    fail(ExitCode::kIo, "--host {} --port {}: {}; another --port may be free (0: any that is)", host, port,
         std::strerror(cause));
  }
  address_ = shown(descriptor_, &local_);
}

Listener::Listener(const std::string& unix_path) : address_("unix:" + unix_path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (unix_path.empty() || unix_path.size() >= sizeof(address.sun_path)) {
    fail(ExitCode::kUsage, "--unix {}: wanted a path of at most {} bytes", unix_path, sizeof(address.sun_path) - 1);
  }
  std::memcpy(address.sun_path, unix_path.c_str(), unix_path.size());
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  descriptor_ = socket(AF_UNIX, kKind, 0);
  if (descriptor_ < 0) fail(ExitCode::kIo, "--unix {}: {}", unix_path, std::strerror(errno));
  struct stat status = {};
  if (lstat(unix_path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) {
    const int asked = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool dead = asked >= 0 && connect(asked, generic, sizeof(address)) != 0 && errno == ECONNREFUSED;
    if (asked >= 0) close(asked);
    if (dead) unlink(unix_path.c_str());
  }
  if (bind(descriptor_, generic, sizeof(address)) != 0 || ::listen(descriptor_, kBacklog) != 0) {
    const int cause = errno;
    close(descriptor_);
    fail(ExitCode::kIo, "--unix {}: {}; name another path, or stop who listens there", unix_path, std::strerror(cause));
  }
  unix_path_ = unix_path;
}

Listener::~Listener() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!unix_path_.empty()) unlink(unix_path_.c_str());
}

}  // namespace bantam::serve
