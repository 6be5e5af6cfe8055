#include "firmware/target.h"

#include <fmt/format.h>

#include <regex>

#include "base/error.h"
#include "firmware/resources.h"

namespace bantam::firmware {
namespace {

constexpr std::string_view kFolder = "targets/";
constexpr std::string_view kFile = "/toolchain.cmake";

[[noreturn]] void fail(const std::string& name, const char* what) {
  throw convert::Error(convert::ExitCode::kInternal, fmt::format("target {}: {}", name, what));
}

std::string text_of(const std::string& path) {
  const Resource* resource = find_resource(path);
  return resource == nullptr ? "" : std::string(resource->text);
}

/// Value of `set(NAME value)` in a CMake file; empty when there is none.
std::string cmake_value(const std::string& text, const std::string& name) {
  std::smatch match;
  return std::regex_search(text, match, std::regex("set\\(" + name + "\\s+\"?([^\")]+)\"?\\)")) ? match[1].str() : "";
}

/// "2M", "128K", "0x8000".
uint64_t length_of(const std::string& digits, const std::string& unit) {
  const uint64_t scale = unit == "K" ? 1024 : unit == "M" ? 1024 * 1024 : 1;
  return std::stoull(digits, nullptr, 0) * scale;
}

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Resource& resource : resources()) {
    const std::string_view path = resource.path;
    if (path.size() <= kFolder.size() + kFile.size() || path.substr(0, kFolder.size()) != kFolder) continue;
    if (path.substr(path.size() - kFile.size()) != kFile) continue;
    const std::string name(path.substr(kFolder.size(), path.size() - kFolder.size() - kFile.size()));
    if (find_resource(fmt::format("{}{}/memory.ld", kFolder, name)) != nullptr) names.push_back(name);
  }
  return names;
}

bool read_memories(std::string_view script, Target* target) {
  const std::regex region(
      "(\\w+)\\s*\\([^)]*\\)\\s*:\\s*ORIGIN\\s*=\\s*\\w+\\s*,\\s*LENGTH\\s*=\\s*(0[xX][0-9a-fA-F]+|\\d+)([KM]?)");
  const std::string text(script);
  for (std::sregex_iterator it(text.begin(), text.end(), region), end; it != end; ++it) {
    const std::string name = (*it)[1];
    const uint64_t bytes = length_of((*it)[2], (*it)[3]);
    if (name == "FLASH") target->flash = bytes;
    if (name == "RAM") target->ram = bytes;
    if (name == "MODEL") target->model = bytes;
  }
  target->model_apart = target->model != 0;
  if (!target->model_apart) target->model = target->flash;
  return target->flash != 0 && target->ram != 0;
}

Target read_target(const std::string& name) {
  Target target;
  target.name = name;
  const std::string toolchain = text_of(fmt::format("{}{}{}", kFolder, name, kFile));
  const std::string isa = cmake_value(toolchain, "BANTAM_FIRMWARE_ISA");
  if (isa.size() < 2 || isa[0] != 'k') fail(name, "its toolchain.cmake does not set BANTAM_FIRMWARE_ISA");
  for (const char c : isa.substr(1)) target.isa += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  target.machine = cmake_value(toolchain, "BANTAM_QEMU_MACHINE");
  if (!read_memories(text_of(fmt::format("{}{}/memory.ld", kFolder, name)), &target)) {
    fail(name, "its memory.ld does not state FLASH and RAM");
  }
  return target;
}

}  // namespace bantam::firmware
