// Terminal: bytes of lines in, one line of answer out for each. A line is a text, or of a model of images the pixels of one, or of one of sounds its samples. The same
// source answers on the device and in `bantam run --uart`, so that both print the same bytes; docs/firmware.md states the format. No
// heap, no printf.
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

/// Longest line, without its end, with the prompt that the file puts before every text.
constexpr uint32_t kLineBytes = BANTAM_LINE_BYTES;
/// Most entities or slots of an answer; more are a status.
constexpr uint32_t kMaxEntities = 24;
/// Most labels of an answer, and most candidates for a [MASK].
constexpr uint32_t kMaxLabels = 8;
constexpr uint32_t kMaxCandidates = 3;

/// An image with a tokenizer takes text, one of images pixels, another token ids; a host takes what the file wants.
#if defined(BANTAM_FIRMWARE)
constexpr bool kTakesIds = !linked::kTokenizer && !linked::kFeatures;
#else
constexpr bool kTakesIds = true;
#endif

/// True if a decoder continues lines: in an image if its model does, on a host where the session has contexts.
/// kLineTokens: the most tokens of a line.
constexpr bool kGoesOn = linked::kContexts && linked::kDecode && linked::kTokenizer;
constexpr uint32_t kLineTokens = kLineBytes + 8;

/// An image whose model reads features takes pixels: hexadecimal digits, two a byte, rows from above, channels side by side.
constexpr bool kTakesPixels = linked::kFeatures;

/// One whose model reads sounds takes samples: hexadecimal digits, four a sample, the low byte first.
constexpr bool kTakesSamples = kTakesPixels && linked::kSound;

/// In the place of SoundRows where no sounds are read.
struct NoSound {
  void begin(uint8_t*, uint32_t) {}
  bool add(const int16_t*, uint32_t) { return true; }
  void finish() {}
};

/// The caller's memory for one image: width * height * channels bytes, and tokens * columns floats (ImageForm).
struct Frame {
  uint8_t* pixels = nullptr;
  float* features = nullptr;
};

/// Where answers go.
struct Sink {
  void (*write)(void* context, const char* data, size_t size) = nullptr;
  void* context = nullptr;
};

class Terminal {
 public:
  /// Before the first put(). `session` and `frame` outlive the terminal. kTextTooLong: the file's prompt leaves no room for a line;
  /// kInvalidArgument: the model takes images, and there is no memory for one.
  Status start(Session* session, Sink sink, const Frame& frame = {});

  /// Takes the next byte. CR, LF and CR LF end a line; then its answer is written.
  void put(uint8_t byte);
  /// The input has ended: answers a last line without an end.
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
  uint32_t prompt_ = 0;  // bytes at the beginning of line_ that stay
  uint32_t size_ = 0;    // bytes of the line so far; more than kLineBytes: overlong
  bool after_return_ = false;
  // For a model of images: the digits of an image, 0 where the model takes texts; size_ counts those so far.
  uint32_t digits_ = 0;
  bool bad_digit_ = false;
  Frame frame_;
  // For a model of sounds: digits_ is then the number of digits of the longest sound.
  bool samples_ = false;
  uint16_t sample_ = 0;
  Choose<kTakesSamples, SoundRows, NoSound> sound_;
  char line_[kLineBytes] = {};
  Entity entities_[(tasks_with(kWordsPart) & linked::kTasks) != 0 ? kMaxEntities : 1] = {};
  int32_t ids_[kGoesOn ? kLineTokens : kTakesIds ? kLineBytes / 2 : 1] = {};
};

/// "error<TAB>WHERE<TAB>NUMBER MESSAGE[: FAULT]<LF>", for what goes wrong before there is a session.
void report(Sink sink, const char* where, Status status, const Fault& fault);

/// "end<TAB>arena HIGH of SIZE<TAB>stack HIGH of SIZE<LF>", in bytes: what the lines so far have used.
void report_memory(Sink sink, const Session& session, size_t arena, size_t stack_high, size_t stack);

}  // namespace bantam::firmware

#endif  // BANTAM_FIRMWARE_TERMINAL_H_
