#include "firmware/flashing.h"

#include <fmt/format.h>

namespace bantam::firmware {

std::string flashing_list(const Target& target) {
  const Flashing& known = target.flashing;
  std::string list;
  const auto add = [&](const std::string& item) { list += (list.empty() ? "- " : "\n- ") + item; };
  for (const std::string& item : known.how) add(item);
  if (!known.openocd.empty()) {
    add(fmt::format("OpenOCD: `openocd {} -c \"program build/firmware.elf verify reset exit\"`.", known.openocd));
  }
  if (!known.probe_rs.empty()) {
    add(fmt::format("probe-rs: `probe-rs run --chip {} build/firmware.elf`.", known.probe_rs));
  }
  if (!known.pyocd.empty()) add(fmt::format("pyOCD: `pyocd flash -t {} build/firmware.hex`.", known.pyocd));
  if (!known.jlink.empty()) {
    add(
        fmt::format("J-Link: `JLinkExe -device {} -if SWD -speed 4000 -autoconnect 1`, then `loadfile "
                    "build/firmware.hex`, `r` and `g`.",
                    known.jlink));
  }
  if (list.empty()) {
    add("Your debug probe's tool writes them: `probe-rs run --chip CHIP build/firmware.elf`, `pyocd flash -t CHIP "
        "build/firmware.hex`, or OpenOCD's `program build/firmware.elf verify reset exit`.");
  }
  if (!known.serial.empty()) {
    add(
        fmt::format("Serial port: {}, {} baud, 8 bits, no parity: `picocom -b {} /dev/ttyACM0` (or `/dev/ttyUSB0`), or "
                    "any terminal program.",
                    known.serial, target.baud, target.baud));
  }
  if (target.semihosting) {
    add("This image talks by semihosting, not over a UART: it stops at its first byte unless a debugger with "
        "semihosting is attached (OpenOCD: `arm semihosting enable`). Give the board a `uart` in `target.json` before "
        "it runs alone.");
  }
  return list;
}

}  // namespace bantam::firmware
