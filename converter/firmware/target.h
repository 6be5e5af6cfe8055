// The microcontrollers that `bantam firmware` knows: what targets/NAME/ says about them.
#ifndef BANTAM_CONVERTER_FIRMWARE_TARGET_H_
#define BANTAM_CONVERTER_FIRMWARE_TARGET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::firmware {

struct Target {
  std::string name;     // "cortex-m4"
  std::string isa;      // folder of runtime/kernels: "dsp"
  std::string machine;  // QEMU's name of a machine that runs it
  // memory.ld: bytes of the device's memories.
  uint64_t flash = 0;  // code, and the model unless it has a memory of its own
  uint64_t model = 0;  // the memory that the model lies in
  bool model_apart = false;
  uint64_t ram = 0;
};

/// Names of all targets, in ascending order.
std::vector<std::string> target_names();

/// Throws Error (internal) for a name that target_names() lacks, or files there that cannot be understood.
Target read_target(const std::string& name);

/// Sets the memories of `target` from the text of a linker script's MEMORY block and REGION_ALIAS("MODEL", ...). False
/// when FLASH or RAM is missing.
bool read_memories(std::string_view script, Target* target);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_TARGET_H_
