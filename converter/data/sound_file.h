// Reads sound files: WAV in its most common form.
#ifndef BANTAM_CONVERTER_DATA_SOUND_FILE_H_
#define BANTAM_CONVERTER_DATA_SOUND_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::convert {

/// The largest file that is read, in bytes: half an hour of sound.
constexpr uint64_t kMostSoundBytes = 64U << 20;

/// Returns true if the first bytes of the file are those of a WAV file.
bool is_sound_file(const std::string& path);

/// Returns the samples of a WAV file with 16-bit integers, one channel and 16 kHz (bantam/sound.h). Throws Error with
/// the file's name: kIo, kInvalid (truncated, not a WAV file), kUnsupported (another format; the message says how to
/// convert it).
std::vector<int16_t> read_sound_file(const std::string& path);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_SOUND_FILE_H_
