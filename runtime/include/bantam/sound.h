// Sound: from samples to rows of bytes, what models of sounds read, one row every 20 ms. In integers alone: the same bytes on every core.
#ifndef BANTAM_SOUND_H_
#define BANTAM_SOUND_H_

#include <stdint.h>

#include "bantam/export.h"
#include "bantam/model.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Samples a second; samples of a window (30 ms) and from one window to the next (20 ms); numbers of a row.
constexpr uint32_t kSoundRate = 16000;
constexpr uint32_t kSoundWindow = 480;
constexpr uint32_t kSoundStep = 320;
constexpr uint32_t kSoundBands = 40;

/// The property of files whose models read such rows, and its value: what the rows are. Such a model has an image 1 high, as wide as a sound
/// has rows, of kSoundBands channels (bantam/image.h).
constexpr const char* kSoundKey = "sound";
constexpr const char* kSoundForm = "40 mel bands, 16000 Hz, 480 by 320";
bool takes_sound(const Model& model);

/// Rows that `samples` give.
constexpr uint32_t sound_rows(uint32_t samples) {
  return samples < kSoundWindow ? 0 : (samples - kSoundWindow) / kSoundStep + 1;
}

/// A bank of filters over a stream of samples. A row is made of a window: a Hann window, a Fourier transform of 512 points, the power at each
/// frequency, its sum under each of 40 triangles that are evenly spread in mel (1127 ln(1 + f/700)) from 20 to 8000 Hz, and of each sum the
/// logarithm. Number b of a row is 8 (log2(sum b) - 12), rounded, at least 0 and at most 255, where samples are whole numbers from -32768
/// to 32767, so that 8 steps are 3 dB; it is at most one off wherever the sum is above a 2^-21 (63 dB below) of the row's largest.
/// 3 KB, which the caller owns; the stack takes 0.5 KB more. No floats, no heap, no tables that are made at run time.
class FilterBank {
 public:
  /// Forgets all samples.
  void clear() { count_ = 0; }

  /// Takes samples up to the one that completes a window, and says how many: fewer than `count` where has_row() is true then. Takes
  /// none while it is.
  uint32_t take(const int16_t* samples, uint32_t count);
  bool has_row() const { return count_ == kSoundWindow; }

  /// The row of the window, kSoundBands bytes, from low to high; after it has_row() is false. Without a row to give: zeros.
  /// About 88,000 instructions of a Cortex-M4, 214,000 of a Cortex-M0+.
  void row(uint8_t* out);

 private:
  static constexpr uint32_t kPoints = 512;

  int16_t samples_[kSoundWindow] = {};
  uint32_t count_ = 0;
  int32_t points_[kPoints] = {};
};

/// The rows of one sound of a fixed length, whatever the length of what is heard.
class SoundRows {
 public:
  /// `rows`: room for `count` rows, the caller's, which has to be there until finish().
  void begin(uint8_t* rows, uint32_t count);
  /// Samples behind the last row are ignored; false: there were some.
  bool add(const int16_t* samples, uint32_t count);
  /// Silence for what is missing.
  void finish();

 private:
  FilterBank bank_;
  uint8_t* next_ = nullptr;
  uint32_t left_ = 0;  // rows
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_SOUND_H_
