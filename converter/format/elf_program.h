// Reads from a program what `bantam bundle` needs: whether it is an ELF file, for which machine, and whether it can
// carry a model.
#ifndef BANTAM_CONVERTER_FORMAT_ELF_PROGRAM_H_
#define BANTAM_CONVERTER_FORMAT_ELF_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace bantam::convert {

/// The note (SHT_NOTE) of programs that look for a model behind themselves. strip keeps it.
constexpr char kRunnerOwner[] = "bantam";
constexpr uint32_t kRunnerNote = 1;
/// Its content: the version of the trailer that the program reads (format/bundle.h).
constexpr uint32_t kRunnerVersion = 1;

struct ElfProgram {
  uint16_t machine = 0;
  std::optional<uint32_t> runner;  // the content of its note
};

/// Returns true if these are the first bytes of an ELF file.
bool is_elf(const uint8_t* bytes, size_t size);

/// Reads a program; nothing if it is no little-endian ELF program, or an incomplete one.
std::optional<ElfProgram> read_elf(const uint8_t* bytes, size_t size);

/// Returns "x86-64", "aarch64", ...; for other machines their number.
std::string machine_name(uint16_t machine);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_ELF_PROGRAM_H_
