// What `bantam bundle` wants to know of a program: is it an ELF file, for which machine, and can it carry a model?
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

/// Are these the first bytes of an ELF file?
bool is_elf(const uint8_t* bytes, size_t size);

/// None: no little-endian ELF program, or one that is not all there.
std::optional<ElfProgram> read_elf(const uint8_t* bytes, size_t size);

/// "x86-64", "aarch64", ...; of others their number.
std::string machine_name(uint16_t machine);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_ELF_PROGRAM_H_
