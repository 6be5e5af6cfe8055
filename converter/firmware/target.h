// The boards that `bantam firmware` makes projects for, each described by a target.json in this command or in a folder.
#ifndef BANTAM_CONVERTER_FIRMWARE_TARGET_H_
#define BANTAM_CONVERTER_FIRMWARE_TARGET_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::firmware {

/// Facts that people and tools need to put an image onto a board. Unknown ones are empty.
struct Flashing {
  std::vector<std::string> how;  // sentences of Markdown about this board alone
  std::string openocd;           // arguments that choose the probe and the chip
  std::string probe_rs;          // names of the chip
  std::string pyocd;
  std::string jlink;   // over SWD
  std::string serial;  // where its serial port is
};

struct Target {
  std::string name;  // the name of its folder
  std::string core;  // a core of cores.json
  std::string like;  // which device it is, for people
  Flashing flashing;
  uint32_t baud = 115200;
  bool semihosting = false;  // the image talks to a debugger, not over a UART
  std::string isa;           // a folder of runtime/kernels: "dsp"
  bool rows = false;         // int8 weights are stored in rows (layout k16n1), not in tiles
  std::string machine;       // QEMU's name of a machine that can run it; empty: none
  // Bytes of the device's memories.
  uint64_t flash = 0;  // code, and the model unless it has its own memory
  uint64_t model = 0;  // the memory that contains the model
  bool model_apart = false;
  uint64_t ram = 0;
  // The files of its folder: target.json, and board.c and assembler files if there are any.
  std::map<std::string, std::string> files;
};

/// Returns the names of all boards of this command, in ascending order.
std::vector<std::string> target_names();

/// Reads a board of this command. Throws Error (internal) for a name that target_names() does not contain, or for an
/// invalid description.
Target read_target(const std::string& name);

/// Reads the board in a user's folder: its target.json, and the other files there except documents. Throws Error: kIo,
/// kInvalid.
Target read_target_folder(const std::filesystem::path& folder);

/// Returns the names of cores, in ascending order.
std::vector<std::string> core_names();

/// Returns the names of the cores that have these kernels ("dsp"); every core has "scalar".
std::vector<std::string> cores_with(const std::string& isa);

/// Returns the prefix of a core's compiler, such as arm-none-eabi; empty if cores.json has no such core.
std::string tools_of(const std::string& core);

/// Returns true if the core's options in cores.json are for a core with an FPU; false for kAnyCore.
bool has_fpu(const std::string& core);

/// Stands for any core, with scalar kernels: for libraries, whose build systems know the core.
constexpr const char* kAnyCore = "any";

/// Returns a board of which only the core is known, one of core_names(); its output goes to a debugger.
Target bare_target(const std::string& core);

/// The start and the size of a memory: "0x08000000:1M", "0x20000000:96K". Throws Error (usage) that begins with
/// `option`.
struct Range {
  std::string start;
  std::string size;
};
Range parse_range(const std::string& text, const std::string& option);

/// Returns the board with the given memories ("flash", "ram", "model") added or replaced. Throws Error.
Target with_memories(const Target& target, const std::map<std::string, Range>& memories);

/// Parses the board in a target.json; targets/README.md lists its fields. Errors name it `where`. Throws Error
/// (invalid) if it is not JSON, or if a field is missing or has an unknown value.
Target parse_target(std::string_view json, const std::string& where);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_TARGET_H_
