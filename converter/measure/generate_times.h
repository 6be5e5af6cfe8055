// Times of generating: a whole call, its first token, each other token.
#ifndef BANTAM_CONVERTER_MEASURE_GENERATE_TIMES_H_
#define BANTAM_CONVERTER_MEASURE_GENERATE_TIMES_H_

#include <cstdint>
#include <optional>

#include "measure/pass_times.h"

namespace bantam::convert {

struct GenerateWork {
  uint32_t prompt = 0;  // tokens; of encoder-decoders those of the source
  uint32_t generate = 16;
  uint32_t beams = 1;
};

/// In milliseconds.
struct GenerateTiming {
  TimeSpread all, first;
  std::optional<TimeSpread> next;  // of a token behind the first one; none where one is made
  uint32_t calls = 0;
  uint32_t threads = 1;
  Isa isa = Isa::kReference;
  size_t arena = 0;  // bytes
};

/// Times calls that make all tokens of `work` after random ids, whether tokens end the text or not. The file generates,
/// and takes so many tokens. Throws Error when the model cannot run.
GenerateTiming time_generating(const ModelFile& file, const TimeOptions& options, const GenerateWork& work);

/// Bytes a second that one core reads of as many as a step does: of a copy, so that nothing else is in its way.
double read_rate(Isa isa, uint64_t bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_MEASURE_GENERATE_TIMES_H_
