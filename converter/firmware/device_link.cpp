#include "firmware/device_link.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fail.h"
#include "base/printable.h"

namespace bantam::firmware {
namespace {

using convert::ExitCode;
using convert::fail;
using convert::printable;
using Clock = std::chrono::steady_clock;

// Room for the entities and words of a line, with a margin. A longer answer is noise from a wrong baud rate.
constexpr size_t kLongestAnswer = 1u << 16;

constexpr std::pair<uint32_t, speed_t> kSpeeds[] = {{9600, B9600},     {19200, B19200},   {38400, B38400},
                                                    {57600, B57600},   {115200, B115200}, {230400, B230400},
                                                    {460800, B460800}, {921600, B921600}, {1000000, B1000000}};

/// Sets a terminal line to pass bytes unchanged.
void set_raw(const std::string& path, int file, uint32_t baud) {
  const auto* speed = std::find_if(std::begin(kSpeeds), std::end(kSpeeds),
                                   [&](const std::pair<uint32_t, speed_t>& known) { return known.first == baud; });
  if (speed == std::end(kSpeeds)) {
    fail(ExitCode::kUsage, "--baud {}: known are 9600 to 1000000 as ports have them, such as 115200", baud);
  }
  termios settings = {};
  if (tcgetattr(file, &settings) != 0) {
    fail(ExitCode::kIo, "{}: not a serial port: {}; `ls /dev/tty*` shows ports, --command runs an emulator",
         printable(path), std::strerror(errno));
  }
  cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  settings.c_cflag &= ~static_cast<tcflag_t>(CRTSCTS | CSTOPB | PARENB);
  cfsetispeed(&settings, speed->second);
  cfsetospeed(&settings, speed->second);
  if (tcsetattr(file, TCSANOW, &settings) != 0) {
    fail(ExitCode::kIo, "{}: cannot set {} baud: {}", printable(path), baud, std::strerror(errno));
  }
  tcflush(file, TCIOFLUSH);  // discard input from an earlier program
}

}  // namespace

DeviceLink DeviceLink::port(const std::string& path, uint32_t baud) {
  const int file = open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) {
    fail(ExitCode::kIo, "{}: cannot open the port: {}{}", printable(path), std::strerror(errno),
         errno == ENOENT   ? "; is the device plugged in?"
         : errno == EACCES ? "; is the user in the group of serial ports (dialout)?"
                           : "");
  }
  DeviceLink link(path, file, -1);
  set_raw(path, file, baud);
  return link;
}

DeviceLink DeviceLink::program(const std::string& command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail(ExitCode::kIo, "--command: {}", std::strerror(errno));
  }
  const pid_t process = fork();
  if (process == 0) {
    setpgid(0, 0);
    dup2(ends[1], STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  const int cause = errno;
  close(ends[1]);
  DeviceLink link(command, ends[0], process);
  if (process < 0) fail(ExitCode::kIo, "--command: {}", std::strerror(cause));
  setpgid(process, process);  // parent and child both call this, because either may run first
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return link;
}

DeviceLink::DeviceLink(DeviceLink&& other) noexcept
    : name_(std::move(other.name_)),
      file_(std::exchange(other.file_, -1)),
      process_(std::exchange(other.process_, -1)),
      received_(std::move(other.received_)) {}

DeviceLink::~DeviceLink() {
  if (file_ >= 0) close(file_);
  if (process_ <= 0) return;
  kill(-process_, SIGTERM);
  int status = 0;
  for (int tries = 0; tries < 100; ++tries) {
    if (waitpid(process_, &status, WNOHANG) != 0) return;
    usleep(10000);
  }
  kill(-process_, SIGKILL);
  waitpid(process_, &status, 0);
}

bool DeviceLink::wait_for(short events, Clock::time_point end) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waiting = {file_, events, 0};
    const int found = poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30)));
    if (found > 0) return true;
    if (found == 0 && left <= 0) return false;
    if (found < 0 && errno != EINTR) fail(ExitCode::kIo, "{}: {}", printable(name_), std::strerror(errno));
  }
}

void DeviceLink::write(std::string_view bytes, std::chrono::milliseconds timeout) {
  const Clock::time_point end = Clock::now() + timeout;
  while (!bytes.empty()) {
    if (!wait_for(POLLOUT, end)) fail(ExitCode::kIo, "{}: the device takes no bytes", printable(name_));
    const ssize_t size = process_ > 0 ? send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                      : ::write(file_, bytes.data(), bytes.size());
    if (size < 0 && errno != EAGAIN && errno != EINTR) {
      fail(ExitCode::kIo, "{}: the device is gone: {}", printable(name_), std::strerror(errno));
    }
    if (size > 0) bytes.remove_prefix(static_cast<size_t>(size));
  }
}

bool DeviceLink::read_line(std::string* line, std::chrono::milliseconds timeout) {
  const Clock::time_point end = Clock::now() + timeout;
  for (;;) {
    const size_t feed = received_.find('\n');
    if (feed != std::string::npos) {
      *line = received_.substr(0, feed);
      received_.erase(0, feed + 1);
      if (!line->empty() && line->back() == '\r') line->pop_back();
      return true;
    }
    if (received_.size() > kLongestAnswer) {
      fail(ExitCode::kIo, "{}: {} bytes without the end of a line; is this a device of bantam, and --baud its speed?",
           printable(name_), received_.size());
    }
    if (!wait_for(POLLIN, end)) return false;
    char bytes[4096];
    const ssize_t size = read(file_, bytes, sizeof(bytes));
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size <= 0) {
      fail(ExitCode::kIo, "{}: the device is gone{}{}", printable(name_), size < 0 ? ": " : "",
           size < 0 ? std::strerror(errno) : "");
    }
    received_.append(bytes, static_cast<size_t>(size));
  }
}

}  // namespace bantam::firmware
