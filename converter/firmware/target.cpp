#include "firmware/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/json_file.h"
#include "firmware/resources.h"

namespace bantam::firmware {
namespace {

namespace fs = std::filesystem;
using convert::Error;
using convert::ExitCode;
using convert::Json;

constexpr std::string_view kFolder = "targets/";
constexpr std::string_view kBoards = "targets/boards/";
constexpr const char* kDescription = "target.json";

/// Parses a size as linker scripts write it: "2M", "96K", "0x8000", "256"; returns 0 if it is invalid or not below 4
/// GB.
uint64_t parse_size(std::string_view size) {
  const bool hex = size.substr(0, 2) == "0x";
  const char* const end = size.data() + size.size();
  uint64_t value = 0;
  const auto [unit, error] = std::from_chars(size.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  const std::string_view rest(unit, static_cast<size_t>(end - unit));
  const uint64_t scale = rest.empty() ? 1 : rest == "K" ? 1024 : rest == "M" ? 1024 * 1024 : 0;
  return error != std::errc() || scale == 0 || value > UINT32_MAX / scale ? 0 : value * scale;
}

/// Returns true if the text is an address such as "0x20000000".
bool is_start(std::string_view start) {
  uint32_t value = 0;
  if (start.substr(0, 2) != "0x" || start.size() == 2) return false;
  const char* const end = start.data() + start.size();
  const auto [last, error] = std::from_chars(start.data() + 2, end, value, 16);
  return error == std::errc() && last == end;
}

uint64_t address(std::string_view start) {
  uint64_t value = 0;
  std::from_chars(start.data() + 2, start.data() + start.size(), value, 16);
  return value;
}

/// A description, and its name in error messages.
class Description {
 public:
  Description(std::string_view json, const std::string& where)
      : where_(where), root_(convert::parse_json(json, where)) {}

  /// Returns the string at `pointer`, such as "/qemu/machine".
  std::string text(const std::string& pointer) const {
    const Json* value = find(pointer);
    if (value == nullptr || !value->is_string()) fail(pointer, "a string is wanted there");
    return value->get<std::string>();
  }
  /// Returns the string at an optional `pointer`, or `otherwise` if it is absent.
  std::string text(const std::string& pointer, const std::string& otherwise) const {
    return find(pointer) == nullptr ? otherwise : text(pointer);
  }
  /// Returns the number at an optional `pointer`, or `otherwise` if it is absent.
  uint32_t number(const std::string& pointer, uint32_t otherwise) const {
    const Json* value = find(pointer);
    if (value == nullptr) return otherwise;
    if (!value->is_number_unsigned() || value->get<uint64_t>() > UINT32_MAX) {
      fail(pointer, "a whole number below 2^32 is wanted there");
    }
    return value->get<uint32_t>();
  }
  /// Returns the strings at an optional `pointer`, none if it is absent.
  std::vector<std::string> texts(const std::string& pointer) const {
    std::vector<std::string> found;
    const Json* list = find(pointer);
    if (list == nullptr) return found;
    if (!list->is_array()) fail(pointer, "a list of strings is wanted there");
    for (const Json& each : *list) {
      if (!each.is_string()) fail(pointer, "a list of strings is wanted there");
      found.push_back(each.get<std::string>());
    }
    return found;
  }

  /// Returns the size of a memory in bytes; 0 if there is no such memory.
  uint64_t memory(const std::string& name) const {
    const std::string pointer = "/memories/" + name;
    if (find(pointer) == nullptr) return 0;
    const uint64_t size = parse_size(text(pointer + "/size"));
    if (size == 0) {
      fail(pointer + "/size", "a size such as \"128K\", \"2M\" or \"0x8000\" below 4 GB is wanted there");
    }
    const std::string start = text(pointer + "/start");
    if (!is_start(start)) fail(pointer + "/start", "an address such as \"0x20000000\" is wanted there");
    if (address(start) + size > uint64_t{1} << 32) fail(pointer, "that ends above 4 GB");
    return size;
  }

  /// Checks that memories which images use do not overlap.
  void check_apart(std::initializer_list<std::string> names) const {
    std::vector<std::pair<uint64_t, std::string>> begins;
    for (const std::string& name : names) {
      if (memory(name) != 0) begins.emplace_back(address(text("/memories/" + name + "/start")), name);
    }
    std::sort(begins.begin(), begins.end());
    for (size_t i = 1; i < begins.size(); ++i) {
      const auto& [begin, name] = begins[i - 1];
      if (begin + memory(name) > begins[i].first) {
        fail("/memories/" + begins[i].second,
             fmt::format("that begins within {}, whose end is at {:#010x}", name, begin + memory(name)));
      }
    }
  }

  [[noreturn]] void fail(const std::string& pointer, const std::string& what) const {
    throw Error(ExitCode::kInvalid, fmt::format("{}: {}: {}", where_, pointer.substr(1), what));
  }

 private:
  const Json* find(const std::string& pointer) const {
    const Json::json_pointer at(pointer);
    return root_.contains(at) ? &root_.at(at) : nullptr;
  }

  std::string where_;
  Json root_;
};

const Json& cores() {
  static const Json all = [] {
    const Resource* resource = find_resource("targets/firmware/cores.json");
    if (resource == nullptr) throw Error(ExitCode::kInternal, "targets/firmware/cores.json: not there");
    return convert::parse_json(resource->text, "cores.json");
  }();
  return all;
}

/// Returns a board's name from a path: "targets/boards/microbit/target.json" -> "microbit"; empty for other paths.
std::string_view name_of(std::string_view path) {
  const std::string_view folder = path.substr(0, kBoards.size()) == kBoards ? kBoards : kFolder;
  if (path.substr(0, folder.size()) != folder) return {};
  path.remove_prefix(folder.size());
  const size_t slash = path.find('/');
  return slash != std::string_view::npos && path.substr(slash + 1) == kDescription ? path.substr(0, slash)
                                                                                   : std::string_view{};
}

/// Makes a name valid as the name of a folder, of a CMake target and as a command-line argument.
std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    plain += good ? c : '-';
  }
  return plain.empty() || plain == "firmware" ? "board" : plain;
}

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Resource& resource : resources()) {
    if (!name_of(resource.path).empty()) names.emplace_back(name_of(resource.path));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> core_names() {
  std::vector<std::string> names;
  for (const auto& [name, core] : cores().items()) names.push_back(name);
  return names;
}

std::vector<std::string> cores_with(const std::string& isa) {
  std::vector<std::string> names;
  for (const auto& [name, core] : cores().items()) {
    if (isa == "scalar" || core.at("kernels").get<std::string>() == isa) names.push_back(name);
  }
  return names;
}

std::string tools_of(const std::string& core) {
  const auto found = cores().find(core);
  return found == cores().end() ? std::string() : found->at("tools").get<std::string>();
}

bool has_fpu(const std::string& core) {
  const auto found = cores().find(core);
  if (found == cores().end()) return false;
  const Json& flags = found->at("flags");
  return std::find(flags.begin(), flags.end(), "-mfloat-abi=hard") != flags.end();
}

Target parse_target(std::string_view json, const std::string& where) {
  const Description description(json, where);
  Target target;
  target.core = description.text("/core");
  const auto core = cores().find(target.core);
  if (core == cores().end()) {
    description.fail("/core", fmt::format("known cores are {}", fmt::join(core_names(), ", ")));
  }
  target.like = description.text("/like", "");
  Flashing& flashing = target.flashing;
  flashing.how = description.texts("/flashing/how");
  flashing.openocd = description.text("/flashing/openocd", "");
  flashing.probe_rs = description.text("/flashing/probe_rs", "");
  flashing.pyocd = description.text("/flashing/pyocd", "");
  flashing.jlink = description.text("/flashing/jlink", "");
  flashing.serial = description.text("/flashing/serial", "");
  target.baud = description.number("/uart/baud", target.baud);
  target.semihosting = description.text("/uart/driver", "none") == "none";
  target.isa = description.text("/kernels", core->at("kernels").get<std::string>());
  target.rows = target.isa == "mve";
  const std::string_view known[] = {"scalar", "dsp", "mve"};
  if (std::find(std::begin(known), std::end(known), target.isa) == std::end(known)) {
    description.fail("/kernels", "known are scalar, dsp and mve");
  }
  target.machine = description.text("/qemu/machine", "");
  target.flash = description.memory("flash");
  target.ram = description.memory("ram");
  if (target.flash == 0 || target.ram == 0) description.fail("/memories", "flash and ram are wanted there");
  target.model = description.memory("model");
  description.check_apart({"flash", "model", "ram", "hot"});
  target.model_apart = target.model != 0;
  if (!target.model_apart) target.model = target.flash;
  target.files[kDescription] = json;
  return target;
}

Target read_target(const std::string& name) {
  for (const Resource& resource : resources()) {
    if (name_of(resource.path) != name) continue;
    Target target = parse_target(resource.text, std::string(resource.path));
    target.name = name;
    const std::string_view folder =
        resource.path.substr(0, resource.path.size() - std::string_view(kDescription).size());
    for (const Resource& other : resources()) {
      if (other.path.substr(0, folder.size()) == folder) {
        target.files[std::string(other.path.substr(folder.size()))] = other.text;
      }
    }
    return target;
  }
  throw Error(ExitCode::kInternal, fmt::format("{}: there is no such board", name));
}

Target read_target_folder(const fs::path& folder) {
  const fs::path description = folder / kDescription;
  Target target = parse_target(convert::read_text_file(description), description.string());
  const fs::path plain = folder.lexically_normal();
  target.name = plain_name((plain.has_filename() ? plain : plain.parent_path()).filename().string());
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string kind = entry.path().extension().string();
    if (!entry.is_regular_file() || (kind != ".c" && kind != ".h" && kind != ".S")) continue;
    target.files[entry.path().filename().string()] = convert::read_text_file(entry.path());
  }
  return target;
}

Target bare_target(const std::string& core) {
  Target target;
  target.name = "board";
  target.files[kDescription] =
      nlohmann::ordered_json{
          {"core", core}, {"like", "a board of your own"}, {"memories", nlohmann::ordered_json::object()}}
          .dump(2) +
      "\n";
  return target;
}

Range parse_range(const std::string& text, const std::string& option) {
  const size_t colon = text.find(':');
  Range range;
  if (colon != std::string::npos) range = {text.substr(0, colon), text.substr(colon + 1)};
  if (!is_start(range.start) || parse_size(range.size) == 0) {
    throw Error(ExitCode::kUsage,
                fmt::format("{} {}: an address and a size are wanted, such as 0x08000000:512K", option, text));
  }
  return range;
}

Target with_memories(const Target& target, const std::map<std::string, Range>& memories) {
  auto json = nlohmann::ordered_json::parse(target.files.at(kDescription));
  for (const auto& [name, range] : memories) json["memories"][name] = {{"start", range.start}, {"size", range.size}};
  Target changed = parse_target(json.dump(2) + "\n", target.name);
  changed.name = target.name;
  changed.files.insert(target.files.begin(), target.files.end());  // files that are already there stay
  return changed;
}

}  // namespace bantam::firmware
