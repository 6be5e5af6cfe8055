#include "format/bundle.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/fail.h"
#include "format/crc32c.h"
#include "format/elf_program.h"

namespace bantam::convert {
namespace {

constexpr size_t kPage = 4096;  // models require only 64
constexpr size_t kEnd = 8;
constexpr char kMagic[8] = {'b', 'a', 'n', 't', 'a', 'm', 'a', 'p'};

struct Trailer {
  char magic[8];
  uint32_t version;
  uint32_t crc;
  uint64_t offset;
  uint64_t size;
  char command[16];
  uint64_t whole;
  uint32_t own_crc;
  uint32_t reserved;
};
static_assert(sizeof(Trailer) == 64 && std::is_trivially_copyable_v<Trailer>, "a contract of files");

std::string_view view_of(const Trailer& trailer) { return {reinterpret_cast<const char*>(&trailer), sizeof trailer}; }

/// Returns the CRC-32C of the trailer's fields before `own_crc`.
uint32_t own_crc(const Trailer& trailer) {
  return crc32c(reinterpret_cast<const uint8_t*>(&trailer), offsetof(Trailer, own_crc));
}

[[noreturn]] void fail_changed(const std::string& path) {
  fail(ExitCode::kInvalid,
       "{}: bytes of the app have changed since it was made: a checksum does not hold; copy it again, or make it with "
       "bantam "
       "bundle",
       path);
}

std::string zeros_after(uint64_t size, size_t unit) {
  return std::string(static_cast<size_t>((unit - size % unit) % unit), '\0');
}

/// Reads the trailer of a file that is large enough.
Trailer trailer_of(const uint8_t* bytes, size_t size) {
  Trailer trailer;
  std::memcpy(&trailer, bytes + size - sizeof trailer, sizeof trailer);
  return trailer;
}

/// Returns true if the trailer is valid for a file of `size` bytes.
bool fits(const Trailer& trailer, uint64_t size) {
  const uint64_t room = size - sizeof trailer;
  return trailer.own_crc == own_crc(trailer) && trailer.reserved == 0 && trailer.whole == size &&
         trailer.offset % kPage == 0 && trailer.offset < room && trailer.size <= room - trailer.offset &&
         room - trailer.offset - trailer.size < kEnd && trailer.command[sizeof trailer.command - 1] == '\0';
}

}  // namespace

bool is_program(const uint8_t* bytes, size_t size) { return is_elf(bytes, size); }

bool has_trailer(const uint8_t* bytes, size_t size) {
  return size > sizeof(Trailer) && std::memcmp(trailer_of(bytes, size).magic, kMagic, sizeof kMagic) == 0;
}

Bundle read_trailer(const uint8_t* bytes, size_t size, const std::string& path) {
  if (!has_trailer(bytes, size)) {
    fail(ExitCode::kInvalid,
         "{}: a program without a model behind it: the file was cut short, or a tool such as strip has dropped the "
         "model; "
         "copy the app again, or make it with bantam bundle",
         path);
  }
  const Trailer trailer = trailer_of(bytes, size);
  if (trailer.version != kRunnerVersion) {
    fail(ExitCode::kUnsupported, "{}: an app of version {}, this program reads {}; make it again with this bantam",
         path, trailer.version, kRunnerVersion);
  }
  if (!fits(trailer, size)) fail_changed(path);
  return {trailer.offset, trailer.size, trailer.command};
}

Bundle read_bundle(const uint8_t* bytes, size_t size, const std::string& path) {
  Bundle bundle = read_trailer(bytes, size, path);
  if (crc32c(bytes, size - sizeof(Trailer)) != trailer_of(bytes, size).crc) fail_changed(path);
  return bundle;
}

BundleParts::BundleParts(std::string_view runner, std::string_view model, const std::string& command) {
  padding_ = zeros_after(runner.size(), kPage);
  end_ = zeros_after(model.size(), kEnd);
  parts_ = {runner, padding_, model, end_};
  Trailer trailer = {};
  std::memcpy(trailer.magic, kMagic, sizeof kMagic);
  trailer.version = kRunnerVersion;
  for (const std::string_view part : parts_) {
    trailer.crc = crc32c(reinterpret_cast<const uint8_t*>(part.data()), part.size(), trailer.crc);
  }
  trailer.offset = runner.size() + padding_.size();
  trailer.size = model.size();
  command.copy(trailer.command, sizeof trailer.command - 1);
  trailer.whole = size() + sizeof trailer;
  trailer.own_crc = own_crc(trailer);
  trailer_ = view_of(trailer);
  parts_.emplace_back(trailer_);
}

uint64_t BundleParts::size() const {
  uint64_t sum = 0;
  for (const std::string_view part : parts_) sum += part.size();
  return sum;
}

}  // namespace bantam::convert
