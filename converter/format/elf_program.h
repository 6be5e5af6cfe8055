// Reads what `bantam bundle` needs to know of a program: whether it is an ELF file, for which machine, and whether it
// can carry a model.
#ifndef BANTAM_CONVERTER_FORMAT_ELF_PROGRAM_H_
#define BANTAM_CONVERTER_FORMAT_ELF_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace bantam::convert {

/// The ELF note (SHT_NOTE) of programs that look for a model at the end of their file. strip keeps it.
constexpr char kRunnerOwner[] = "bantam";
constexpr uint32_t kRunnerNote = 1;
/// The note's content: the version of the trailer that the program reads (format/bundle.h).
constexpr uint32_t kRunnerVersion = 1;

struct ElfProgram {
  uint16_t machine = 0;
  std::optional<uint32_t> runner;  // content of the note
};

/// Returns true if these are the first bytes of an ELF file.
bool is_elf(const uint8_t* bytes, size_t size);

/// Reads a program; nullopt unless it is a complete little-endian ELF program.
std::optional<ElfProgram> read_elf(const uint8_t* bytes, size_t size);

/// Returns "x86-64", "aarch64", ...; for other machines, the number.
std::string machine_name(uint16_t machine);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_ELF_PROGRAM_H_
