#include "firmware/target.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/json_file.h"
#include "firmware/resources.h"

namespace bantam::firmware {
namespace {

using convert::Json;

constexpr std::string_view kFolder = "targets/";
constexpr std::string_view kFile = "/target.json";

/// One description, and the name that errors call it.
class Description {
 public:
  Description(std::string_view json, const std::string& where)
      : where_(where), root_(convert::parse_json(json, where)) {}

  /// The string at `pointer` ("/qemu/machine").
  std::string text(const std::string& pointer) const {
    const Json* value = find(pointer);
    if (value == nullptr || !value->is_string()) fail(pointer, "a string is wanted there");
    return value->get<std::string>();
  }

  /// Bytes of a memory as a linker script writes them: "2M", "96K", "0x8000"; 0 where there is no such memory.
  uint64_t memory(const std::string& name) const {
    const std::string pointer = "/memories/" + name;
    if (find(pointer) == nullptr) return 0;
    const std::string size = text(pointer + "/size");
    const bool hex = size.compare(0, 2, "0x") == 0;
    const char* const end = size.data() + size.size();
    uint64_t value = 0;
    const auto [unit, error] = std::from_chars(size.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
    const std::string_view rest(unit, static_cast<size_t>(end - unit));
    const uint64_t scale = rest.empty() ? 1 : rest == "K" ? 1024 : rest == "M" ? 1024 * 1024 : 0;
    if (error != std::errc() || scale == 0 || value == 0 || value > UINT32_MAX / scale) {
      fail(pointer + "/size", "a size such as \"128K\", \"2M\" or \"0x8000\" below 4 GB is wanted there");
    }
    return value * scale;
  }

  [[noreturn]] void fail(const std::string& pointer, const char* what) const {
    throw convert::Error(convert::ExitCode::kInvalid, fmt::format("{}: {}: {}", where_, pointer.substr(1), what));
  }

 private:
  const Json* find(const std::string& pointer) const {
    const Json::json_pointer at(pointer);
    return root_.contains(at) ? &root_.at(at) : nullptr;
  }

  std::string where_;
  Json root_;
};

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Resource& resource : resources()) {
    const std::string_view path = resource.path;
    if (path.size() <= kFolder.size() + kFile.size() || path.substr(0, kFolder.size()) != kFolder) continue;
    if (path.substr(path.size() - kFile.size()) != kFile) continue;
    names.emplace_back(path.substr(kFolder.size(), path.size() - kFolder.size() - kFile.size()));
  }
  return names;
}

Target parse_target(std::string_view json, const std::string& where) {
  const Description description(json, where);
  Target target;
  target.isa = description.text("/kernels");
  const std::string layout = description.text("/weights");
  if (layout != "tile_k4n16" && layout != "k16n1") {
    description.fail("/weights", "known layouts are tile_k4n16 and k16n1");
  }
  target.rows = layout == "k16n1";
  target.machine = description.text("/qemu/machine");
  target.flash = description.memory("flash");
  target.ram = description.memory("ram");
  if (target.flash == 0 || target.ram == 0) description.fail("/memories", "flash and ram are wanted there");
  target.model = description.memory("model");
  target.model_apart = target.model != 0;
  if (!target.model_apart) target.model = target.flash;
  return target;
}

Target read_target(const std::string& name) {
  const std::string path = fmt::format("{}{}{}", kFolder, name, kFile);
  const Resource* resource = find_resource(path);
  if (resource == nullptr) throw convert::Error(convert::ExitCode::kInternal, fmt::format("{}: not there", path));
  Target target = parse_target(resource->text, path);
  target.name = name;
  return target;
}

}  // namespace bantam::firmware
