#include "format/elf_program.h"

#include <elf.h>

#include <cstring>

namespace bantam::convert {
namespace {

/// The untrusted bytes of a file.
struct Bytes {
  const uint8_t* data;
  size_t size;

  /// Copies a T from offset `at`; returns false if it is out of bounds.
  template <typename T>
  bool read(uint64_t at, T* value) const {
    if (at > size || size - at < sizeof(T)) return false;
    std::memcpy(value, data + at, sizeof(T));
    return true;
  }
};

constexpr uint64_t round_up4(uint64_t value) { return (value + 3) & ~uint64_t{3}; }

/// Returns true if `size` bytes from offset `at` are in the file.
bool holds(const Bytes& file, uint64_t at, uint64_t size) { return at <= file.size && file.size - at >= size; }

/// Searches the notes of one segment for the note.
std::optional<uint32_t> find_note(const Bytes& file, uint64_t at, uint64_t size) {
  if (!holds(file, at, size)) return std::nullopt;
  const Bytes notes{file.data + at, static_cast<size_t>(size)};
  Elf32_Nhdr header;  // 64-bit files use the same structure
  for (uint64_t place = 0; notes.read(place, &header);) {
    const uint64_t owner = place + sizeof header;
    const uint64_t content = owner + round_up4(header.n_namesz);
    uint32_t version = 0;
    char name[sizeof kRunnerOwner];
    if (header.n_type == kRunnerNote && header.n_namesz == sizeof name && header.n_descsz == sizeof version &&
        notes.read(owner, &name) && std::memcmp(name, kRunnerOwner, sizeof name) == 0 &&
        notes.read(content, &version)) {
      return version;
    }
    place = content + round_up4(header.n_descsz);
  }
  return std::nullopt;
}

template <typename Header, typename Segment>
std::optional<ElfProgram> read(const Bytes& file) {
  Header header;
  if (!file.read(0, &header)) return std::nullopt;
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return std::nullopt;
  if (header.e_phentsize != sizeof(Segment)) return std::nullopt;
  if (!holds(file, header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize)) return std::nullopt;
  ElfProgram program;
  program.machine = header.e_machine;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Segment segment;
    if (header.e_phoff > file.size || !file.read(header.e_phoff + i * sizeof segment, &segment)) return std::nullopt;
    if (segment.p_type == PT_LOAD && !holds(file, segment.p_offset, segment.p_filesz)) return std::nullopt;
    if (segment.p_type != PT_NOTE || program.runner) continue;
    program.runner = find_note(file, segment.p_offset, segment.p_filesz);
  }
  return program;
}

}  // namespace

bool is_elf(const uint8_t* bytes, size_t size) { return size >= EI_NIDENT && std::memcmp(bytes, ELFMAG, SELFMAG) == 0; }

std::optional<ElfProgram> read_elf(const uint8_t* bytes, size_t size) {
  if (!is_elf(bytes, size) || bytes[EI_DATA] != ELFDATA2LSB) return std::nullopt;
  const Bytes file{bytes, size};
  if (bytes[EI_CLASS] == ELFCLASS64) return read<Elf64_Ehdr, Elf64_Phdr>(file);
  return read<Elf32_Ehdr, Elf32_Phdr>(file);
}

std::string machine_name(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "x86";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "ARM";
    case EM_RISCV:
      return "RISC-V";
    default:
      return "machine " + std::to_string(machine);
  }
}

}  // namespace bantam::convert
