// The microcontrollers that `bantam firmware` knows: what targets/NAME/target.json says about them.
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
  bool rows = false;    // int8 weights lie in rows (layout k16n1), not in tiles
  std::string machine;  // QEMU's name of a machine that runs it
  // Bytes of the device's memories.
  uint64_t flash = 0;  // code, and the model unless it has a memory of its own
  uint64_t model = 0;  // the memory that the model lies in
  bool model_apart = false;
  uint64_t ram = 0;
};

/// Names of all targets, in ascending order.
std::vector<std::string> target_names();

/// Throws Error (internal) for a name that target_names() lacks, or a description that cannot be understood.
Target read_target(const std::string& name);

/// The target that a target.json describes; targets/README.md says what it holds. `where` is what errors call it. Throws
/// Error (invalid): not JSON, or a field is missing or has a value that is not known.
Target parse_target(std::string_view json, const std::string& where);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_TARGET_H_
