// Sound: converts samples to the rows of bytes that sound models take, one row every 20 ms. Integer arithmetic only:
// every core computes the same bytes.
#ifndef BANTAM_SOUND_H_
#define BANTAM_SOUND_H_

#include <stdint.h>

#include "bantam/export.h"
#include "bantam/model.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Samples per second; samples in a window (30 ms); samples from one window to the next (20 ms); numbers in a row.
constexpr uint32_t kSoundRate = 16000;
constexpr uint32_t kSoundWindow = 480;
constexpr uint32_t kSoundStep = 320;
constexpr uint32_t kSoundBands = 40;

/// The property of files whose models take such rows, and its value, which names the form of the rows. Such a model
/// takes images (bantam/image.h) of height 1, with one pixel per row of the sound and kSoundBands channels.
constexpr const char* kSoundKey = "sound";
constexpr const char* kSoundForm = "40 mel bands, 16000 Hz, 480 by 320";
bool takes_sound(const Model& model);

/// The number of rows computed from `samples` samples.
constexpr uint32_t sound_rows(uint32_t samples) {
  return samples < kSoundWindow ? 0 : (samples - kSoundWindow) / kSoundStep + 1;
}

/// A mel filter bank over a stream of samples. Each row is computed from one window: a Hann window, a Fourier transform
/// of 512 points, the power at each frequency, its sum under each of 40 triangles that are evenly spaced in mel (1127
/// ln(1 + f/700)) from 20 to 8000 Hz, and the logarithm of each sum. Number b of a row is 8 (log2(sum b) - 12), rounded
/// and clamped to 0 to 255, where samples are integers from -32768 to 32767; 8 steps are 3 dB. Its error is at most one
/// if the sum is above 2^-21 (63 dB below) of the row's largest.
/// Takes 3 KB, which the caller owns, and 0.5 KB more of stack. No floats, no heap, no tables computed at run time.
class FilterBank {
 public:
  /// Discards all samples.
  void clear() { count_ = 0; }

  /// Takes samples up to the one that completes a window, and returns their number; if it is less than `count`,
  /// has_row() is true. Takes none while has_row() is true.
  uint32_t take(const int16_t* samples, uint32_t count);
  bool has_row() const { return count_ == kSoundWindow; }

  /// Writes the row of the window, kSoundBands bytes, from low to high frequencies; has_row() is false afterwards.
  /// Writes zeros if there is no row. About 88,000 instructions on a Cortex-M4, 214,000 on a Cortex-M0+.
  void row(uint8_t* out);

 private:
  static constexpr uint32_t kPoints = 512;

  int16_t samples_[kSoundWindow] = {};
  uint32_t count_ = 0;
  int32_t points_[kPoints] = {};
};

/// Computes a fixed number of rows of one sound, whatever the length of the recording.
class SoundRows {
 public:
  /// `rows` has room for `count` rows; the caller owns it and keeps it until finish().
  void begin(uint8_t* rows, uint32_t count);
  /// Adds samples. Returns false if some came after the last row; these are ignored.
  bool add(const int16_t* samples, uint32_t count);
  /// Fills the remaining rows with silence.
  void finish();

 private:
  FilterBank bank_;
  uint8_t* next_ = nullptr;
  uint32_t left_ = 0;  // rows to write
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_SOUND_H_
