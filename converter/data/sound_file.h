// Files of sounds: WAV as most programs write it.
#ifndef BANTAM_CONVERTER_DATA_SOUND_FILE_H_
#define BANTAM_CONVERTER_DATA_SOUND_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::convert {

/// Largest file that is read: half an hour.
constexpr uint64_t kMostSoundBytes = 64U << 20;

/// Is it a WAV file, by its first bytes?
bool is_sound_file(const std::string& path);

/// The samples of a WAV file of 16-bit whole numbers, one channel, 16 kHz (bantam/sound.h). Throws Error with the file's name: kIo, kInvalid (cut
/// short, no such file), kUnsupported (others, which it says how to convert).
std::vector<int16_t> read_sound_file(const std::string& path);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_SOUND_FILE_H_
