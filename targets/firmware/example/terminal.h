// Terminal: reads bytes of lines and writes one line of answer for each. A line is a text or, for an image model, the
// pixels of an image or, for a sound model, the samples of a sound. The same source runs on the device and in `bantam
// run --uart`, so that both print the same bytes; docs/firmware.md specifies the format. Uses no heap and no printf.
#ifndef BANTAM_FIRMWARE_TERMINAL_H_
#define BANTAM_FIRMWARE_TERMINAL_H_

#include <stddef.h>
#include <stdint.h>

#include "bantam/image.h"
#include "bantam/sound.h"
#include "bantam/tasks.h"
#include "language.h"
#include "linked.h"
#include "model/task_traits.h"

#if !defined(BANTAM_LINE_BYTES)
#define BANTAM_LINE_BYTES 512
#endif

namespace bantam::firmware {

/// The largest number of bytes of a line, without its end but including the file's prompt for every text.
constexpr uint32_t kLineBytes = BANTAM_LINE_BYTES;
/// The largest number of entities or slots in an answer; more of them give a status.
constexpr uint32_t kMaxEntities = 24;
/// The largest number of labels in an answer, and of candidates for a [MASK].
constexpr uint32_t kMaxLabels = 8;
constexpr uint32_t kMaxCandidates = 3;

/// An image with a tokenizer reads text, an image of an image model reads pixels, and any other reads token ids; on a
/// host, the file decides.
#if defined(BANTAM_FIRMWARE)
constexpr bool kTakesIds = !linked::kTokenizer && !linked::kFeatures;
#else
constexpr bool kTakesIds = true;
#endif

/// True if a decoder continues lines: in an image if its model does, on a host if the session has contexts.
/// kLineTokens: the largest number of tokens of a line.
constexpr bool kGoesOn = linked::kContexts && linked::kDecode && linked::kTokenizer;
constexpr uint32_t kLineTokens = kLineBytes + 8;

/// An image whose model reads features accepts pixels: two hexadecimal digits per byte, rows from top to bottom,
/// channels interleaved.
constexpr bool kTakesPixels = linked::kFeatures;

/// If its model reads sounds, it accepts samples: four hexadecimal digits each, low byte first.
constexpr bool kTakesSamples = kTakesPixels && linked::kSound;

/// Replaces SoundRows if no sounds are read.
struct NoSound {
  void begin(uint8_t*, uint32_t) {}
  bool add(const int16_t*, uint32_t) { return true; }
  void finish() {}
};

/// The caller's memory for one image: width * height * channels bytes for pixels, and tokens * columns floats
/// (ImageForm).
struct Frame {
  uint8_t* pixels = nullptr;
  float* features = nullptr;
};

/// Receives the answers.
struct Sink {
  void (*write)(void* context, const char* data, size_t size) = nullptr;
  void* context = nullptr;
};

class Terminal {
 public:
  /// Call before the first put(). `session` and `frame` must outlive the terminal. Returns kTextTooLong if the file's
  /// prompt leaves no room for a line, and kInvalidArgument if the model reads images and there is no memory for one.
  Status start(Session* session, Sink sink, const Frame& frame = {});

  /// Takes the next byte. CR, LF and CR LF end a line, whose answer is then written.
  void put(uint8_t byte);
  /// Call at the end of the input: answers a last line that has no line end.
  void finish();

 private:
  void end_line();
  void put_digit(uint8_t byte);
  void put_sample_digit(uint32_t digit);
  const char* wrong() const;
  void begin_sound();
  void end_pixels();

  Session* session_ = nullptr;
  Sink sink_;
  uint32_t prompt_ = 0;  // bytes at the beginning of line_ that are the prompt
  uint32_t size_ = 0;    // bytes of the line so far; more than kLineBytes: the line is too long
  bool after_return_ = false;
  // For an image model: the number of digits of an image, which size_ counts so far; 0 if the model reads texts.
  uint32_t digits_ = 0;
  bool bad_digit_ = false;
  Frame frame_;
  // For a sound model: digits_ is then the number of digits of the longest sound.
  bool samples_ = false;
  uint16_t sample_ = 0;
  Choose<kTakesSamples, SoundRows, NoSound> sound_;
  char line_[kLineBytes] = {};
  Entity entities_[(tasks_with(kWordsPart) & linked::kTasks) != 0 ? kMaxEntities : 1] = {};
  int32_t ids_[kGoesOn ? kLineTokens : kTakesIds ? kLineBytes / 2 : 1] = {};
};

/// Writes "error<TAB>WHERE<TAB>NUMBER MESSAGE[: FAULT]<LF>" for an error that occurs before there is a session.
void report(Sink sink, const char* where, Status status, const Fault& fault);

/// Writes "end<TAB>arena HIGH of SIZE<TAB>stack HIGH of SIZE<LF>", the bytes that the lines so far have used.
void report_memory(Sink sink, const Session& session, size_t arena, size_t stack_high, size_t stack);

}  // namespace bantam::firmware

#endif  // BANTAM_FIRMWARE_TERMINAL_H_
