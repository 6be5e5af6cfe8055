#include "source/zip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/regular_file.h"
#include "base/size.h"
#include "source/weight_file.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kMaxDirectoryBytes = uint64_t{64} << 20;
constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr uint64_t kLocalHeaderBytes = 30;
constexpr size_t kEntryBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr uint64_t kEnd64Bytes = 56;
constexpr size_t kLocatorBytes = 20;
constexpr size_t kMaxCommentBytes = 0xFFFF;
constexpr uint64_t kIn64 = 0xFFFFFFFF;  // the value is in a 64-bit field elsewhere

/// Reads a little-endian number of `bytes` bytes; the caller has checked that they exist.
uint64_t number(std::string_view text, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[at + i]);
  return value;
}

[[noreturn]] void invalid(const fs::path& path, const std::string& why) {
  throw Error(ExitCode::kInvalid, fmt::format("{}: {}; download or copy it again", path.string(), why));
}

std::string read_range(const fs::path& path, uint64_t begin, uint64_t size) {
  std::string bytes(in_memory(size), '\0');
  RegularFile(path).read_all(begin, bytes.data(), bytes.size());
  return bytes;
}

/// Reads sizes and offsets that are too large for 32 bits; `fields` are those that the entry lacks, in order.
void read_extra64(std::string_view extra, std::array<uint64_t*, 3> fields) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    const uint64_t kind = number(extra, at, 2);
    const auto size = static_cast<size_t>(number(extra, at + 2, 2));
    at += 4;
    if (size > extra.size() - at) return;
    if (kind == 1) {
      size_t place = at;
      for (uint64_t* field : fields) {
        if (*field != kIn64 || place + 8 > at + size) continue;
        *field = number(extra, place, 8);
        place += 8;
      }
      return;
    }
    at += size;
  }
}

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1u) != 0 ? value >> 1 ^ 0xEDB88320u : value >> 1;
    table[i] = value;
  }
  return table;
}

}  // namespace

uint32_t crc32(const std::string& bytes) {
  static constexpr std::array<uint32_t, 256> kTable = make_table();
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFFu] ^ crc >> 8;
  return ~crc;
}

ZipFile::ZipFile(fs::path path) : path_(std::move(path)) {
  const uint64_t size = size_of_file(path_);
  const auto tail_size = static_cast<size_t>(std::min<uint64_t>(size, kEndBytes + kMaxCommentBytes + kLocatorBytes));
  const std::string tail = read_range(path_, size - tail_size, tail_size);
  size_t end =
      tail.size() < kEndBytes ? std::string::npos : tail.rfind(std::string("PK\x05\x06", 4), tail.size() - kEndBytes);
  if (end == std::string::npos || number(tail, end, 4) != kEnd) invalid(path_, "truncated, or no zip archive");
  uint64_t count = number(tail, end + 10, 2);
  uint64_t directory_size = number(tail, end + 12, 4);
  directory_ = number(tail, end + 16, 4);
  uint64_t directory_end = size - tail.size() + end;
  if (end >= kLocatorBytes && number(tail, end - kLocatorBytes, 4) == kEnd64Locator) {
    const uint64_t place = number(tail, end - kLocatorBytes + 8, 8);
    if (size < kEnd64Bytes || place > size - kEnd64Bytes) invalid(path_, "its directory lies outside of it");
    const std::string record = read_range(path_, place, kEnd64Bytes);
    if (number(record, 0, 4) != kEnd64) invalid(path_, "its directory is damaged");
    count = number(record, 32, 8);
    directory_size = number(record, 40, 8);
    directory_ = number(record, 48, 8);
    directory_end = place;
  }
  if (directory_ > directory_end || directory_size > directory_end - directory_ ||
      directory_size > kMaxDirectoryBytes) {
    invalid(path_, "its directory lies outside of it or is too long");
  }
  read_directory(read_range(path_, directory_, directory_size), count, directory_);
}

void ZipFile::read_directory(const std::string& directory, uint64_t count, uint64_t end) {
  const std::string_view bytes(directory);
  size_t at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (bytes.size() - at < kEntryBytes || number(bytes, at, 4) != kDirectoryEntry) {
      invalid(path_, "its directory is damaged");
    }
    const uint64_t flags = number(bytes, at + 8, 2);
    const uint64_t method = number(bytes, at + 10, 2);
    uint64_t packed = number(bytes, at + 20, 4);
    const auto name_size = static_cast<size_t>(number(bytes, at + 28, 2));
    const auto extra_size = static_cast<size_t>(number(bytes, at + 30, 2));
    const auto comment_size = static_cast<size_t>(number(bytes, at + 32, 2));
    ZipEntry entry;
    entry.crc = static_cast<uint32_t>(number(bytes, at + 16, 4));
    entry.size = number(bytes, at + 24, 4);
    entry.header = number(bytes, at + 42, 4);
    if (name_size + extra_size + comment_size > bytes.size() - at - kEntryBytes) {
      invalid(path_, "its directory is damaged");
    }
    const std::string name(bytes.substr(at + kEntryBytes, name_size));
    read_extra64(bytes.substr(at + kEntryBytes + name_size, extra_size), {&entry.size, &packed, &entry.header});
    entry.stored = method == 0 && (flags & 1u) == 0 && packed == entry.size;
    // The size of a compressed entry, which is never read, says nothing about the bytes that it takes.
    const uint64_t held = entry.stored ? entry.size : packed;
    if (entry.header > end || held > end - entry.header) {
      invalid(path_, fmt::format("\"{}\" lies outside of it", name));
    }
    if (!entries_.emplace(name, entry).second) invalid(path_, fmt::format("\"{}\" is in it twice", name));
    at += kEntryBytes + name_size + extra_size + comment_size;
  }
}

uint64_t ZipFile::find(const std::string& name) const {
  const ZipEntry& entry = entries_.at(name);
  if (!entry.stored)
    invalid(path_,
            fmt::format("\"{}\" is compressed or encrypted; entries are read that are stored as they are", name));
  const uint64_t left = directory_ - entry.header;
  if (left < kLocalHeaderBytes) invalid(path_, fmt::format("\"{}\" lies outside of it", name));
  const std::string header = read_range(path_, entry.header, kLocalHeaderBytes);
  const uint64_t skipped = kLocalHeaderBytes + number(header, 26, 2) + number(header, 28, 2);
  if (number(header, 0, 4) != kLocalHeader || skipped > left || entry.size > left - skipped) {
    invalid(path_, fmt::format("\"{}\" is damaged", name));
  }
  return entry.header + skipped;
}

std::string ZipFile::read(const std::string& name) const {
  std::string bytes = read_range(path_, find(name), entries_.at(name).size);
  if (crc32(bytes) != entries_.at(name).crc) {
    invalid(path_, fmt::format("\"{}\" is damaged: its checksum is wrong", name));
  }
  return bytes;
}

std::string ZipFile::read_part(const std::string& name, uint64_t begin, uint64_t size) const {
  return read_range(path_, find(name) + begin, size);
}

}  // namespace bantam::convert
