#include "data/sound_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "bantam/sound.h"
#include "base/error.h"
#include "base/printable.h"

namespace bantam::convert {
namespace {

constexpr size_t kHeader = 12, kChunkHeader = 8, kFormatBytes = 16;
constexpr uint32_t kWholeNumbers = 1, kExtensible = 0xFFFE;
constexpr size_t kSubFormat = 24;  // offset of the sample format in an extensible format

[[noreturn]] void refuse_sound(const std::string& path, ExitCode code, const std::string& why) {
  throw Error(code, fmt::format("{}: {}", printable(path), why));
}

uint32_t number(const std::string& bytes, size_t at, size_t size) {
  uint32_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

void check_format(const std::string& path, const std::string& bytes, size_t at, size_t size) {
  if (size < kFormatBytes) refuse_sound(path, ExitCode::kInvalid, "the chunk of its format is too short");
  uint32_t kind = number(bytes, at, 2);
  if (kind == kExtensible && size >= kSubFormat + 2) kind = number(bytes, at + kSubFormat, 2);
  const uint32_t channels = number(bytes, at + 2, 2), rate = number(bytes, at + 4, 4), bits = number(bytes, at + 14, 2);
  if (kind == kWholeNumbers && channels == 1 && rate == kSoundRate && bits == 16) return;
  refuse_sound(
      path, ExitCode::kUnsupported,
      fmt::format("the sound has {} channels of {} bits{} at {} Hz, models take one of 16 bits at {} Hz; convert it: "
                  "sox IN.wav -r {} -c 1 -b 16 OUT.wav",
                  channels, bits, kind == kWholeNumbers ? "" : " (no plain whole numbers)", rate, kSoundRate,
                  kSoundRate));
}

std::string first_bytes(const std::string& path, uint64_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse_sound(path, ExitCode::kIo, "cannot be read");
  std::string bytes;
  char part[1 << 15];
  while (file && bytes.size() < most) {
    file.read(part, static_cast<std::streamsize>(std::min<uint64_t>(sizeof(part), most - bytes.size())));
    bytes.append(part, static_cast<size_t>(file.gcount()));
  }
  return bytes;
}

bool begins_as_wave(const std::string& bytes) {
  return bytes.size() >= kHeader && bytes.compare(0, 4, "RIFF") == 0 && bytes.compare(8, 4, "WAVE") == 0;
}

}  // namespace

bool is_sound_file(const std::string& path) { return begins_as_wave(first_bytes(path, kHeader)); }

std::vector<int16_t> read_sound_file(const std::string& path) {
  const std::string bytes = first_bytes(path, kMostSoundBytes + 1);
  if (bytes.size() > kMostSoundBytes) {
    refuse_sound(path, ExitCode::kInvalid, fmt::format("more than {} bytes; cut the sound first", kMostSoundBytes));
  }
  if (!begins_as_wave(bytes)) refuse_sound(path, ExitCode::kInvalid, "is not a WAV file");
  bool formatted = false;
  for (size_t at = kHeader; bytes.size() - at >= kChunkHeader;) {
    const std::string name = bytes.substr(at, 4);
    const size_t stated = number(bytes, at + 4, 4), left = bytes.size() - at - kChunkHeader;
    at += kChunkHeader;
    const size_t size = std::min(stated, left);  // programs that write to pipes do not know the final size
    if (name == "fmt ") {
      check_format(path, bytes, at, size);
      formatted = true;
    }
    if (name == "data") {
      if (!formatted) refuse_sound(path, ExitCode::kInvalid, "samples come before their format");
      std::vector<int16_t> samples(size / 2);
      for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<int16_t>(number(bytes, at + 2 * i, 2));
      return samples;
    }
    at += std::min(left, size + size % 2);
  }
  refuse_sound(path, ExitCode::kInvalid, "holds no samples");
}

}  // namespace bantam::convert
