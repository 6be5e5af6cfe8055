// Sends lines to a device and reads its answers, over a serial port or the standard input and output of a program (an
// emulator).
#ifndef BANTAM_CONVERTER_FIRMWARE_DEVICE_LINK_H_
#define BANTAM_CONVERTER_FIRMWARE_DEVICE_LINK_H_

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>

namespace bantam::firmware {

class DeviceLink {
 public:
  /// Opens a serial port with 8 bits, no parity and no flow control. Throws Error: usage for an unsupported speed, I/O.
  static DeviceLink port(const std::string& path, uint32_t baud);
  /// Runs `command` in a shell, in its own process group, which ends with the link. Throws Error (I/O).
  static DeviceLink program(const std::string& command);

  DeviceLink(DeviceLink&& other) noexcept;
  DeviceLink& operator=(DeviceLink&&) = delete;
  ~DeviceLink();

  /// Throws Error (I/O) if the device is gone or accepts no data within `timeout`.
  void write(std::string_view bytes, std::chrono::milliseconds timeout);

  /// Reads the next line, without the CR LF or LF that ends it. Returns false if no line arrives within `timeout`.
  /// Throws Error (I/O) if the device is gone, or if a line is longer than any answer.
  bool read_line(std::string* line, std::chrono::milliseconds timeout);

  /// Returns the name by which the user knows the device.
  const std::string& name() const { return name_; }

 private:
  DeviceLink(std::string name, int file, pid_t process) : name_(std::move(name)), file_(file), process_(process) {}

  /// Returns true if poll() reports one of these events before `end`.
  bool wait_for(short events, std::chrono::steady_clock::time_point end) const;

  std::string name_;
  int file_ = -1;
  pid_t process_ = -1;  // of the program, if there is one
  std::string received_;
};

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_DEVICE_LINK_H_
