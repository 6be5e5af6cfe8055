// The boards that `bantam firmware` makes projects for: what a target.json says about one, of this command or of a folder.
#ifndef BANTAM_CONVERTER_FIRMWARE_TARGET_H_
#define BANTAM_CONVERTER_FIRMWARE_TARGET_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::firmware {

struct Target {
  std::string name;     // of its folder
  std::string core;     // of cores.json
  std::string like;     // which device it is, for people
  std::string isa;      // folder of runtime/kernels: "dsp"
  bool rows = false;    // int8 weights lie in rows (layout k16n1), not in tiles
  std::string machine;  // QEMU's name of a machine that runs it; empty: it has none
  // Bytes of the device's memories.
  uint64_t flash = 0;  // code, and the model unless it has a memory of its own
  uint64_t model = 0;  // the memory that the model lies in
  bool model_apart = false;
  uint64_t ram = 0;
  std::map<std::string, std::string> files;  // of its folder: target.json, and board.c and assembler where it has some
};

/// Names of all boards of this command, in ascending order.
std::vector<std::string> target_names();

/// Throws Error (internal) for a name that target_names() lacks, or a description that cannot be understood.
Target read_target(const std::string& name);

/// The board in a folder of the user's: its target.json, and what else lies there beside documents. Throws Error: kIo, kInvalid.
Target read_target_folder(const std::filesystem::path& folder);

/// Names of cores, in ascending order.
std::vector<std::string> core_names();

/// Those whose kernels these are ("dsp"); "scalar" are every core's.
std::vector<std::string> cores_with(const std::string& isa);

/// The prefix of a core's compiler, such as arm-none-eabi; empty: cores.json has no such core.
std::string tools_of(const std::string& core);

/// Whether the core's options of cores.json are for one with an FPU; not of kAnyCore.
bool has_fpu(const std::string& core);

/// What stands for any core, with scalar kernels: of libraries, whose build systems know the core.
constexpr const char* kAnyCore = "any";

/// A board of which no more is known than its core, one of core_names(): what it says goes to a debugger.
Target bare_target(const std::string& core);

/// "0x08000000:1M", "0x20000000:96K": where a memory is and how large. Throws Error (usage) with `option` in front.
struct Range {
  std::string start;
  std::string size;
};
Range parse_range(const std::string& text, const std::string& option);

/// The board with memories ("flash", "ram", "model") of its description set or replaced. Throws Error.
Target with_memories(const Target& target, const std::map<std::string, Range>& memories);

/// The board that a target.json describes; targets/README.md says what it holds. `where` is what errors call it. Throws
/// Error (invalid): not JSON, or a field is missing or has a value that is not known.
Target parse_target(std::string_view json, const std::string& where);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_TARGET_H_
