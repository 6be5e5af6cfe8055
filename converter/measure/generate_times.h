// Times of generation: a whole call, its first token, each other token.
#ifndef BANTAM_CONVERTER_MEASURE_GENERATE_TIMES_H_
#define BANTAM_CONVERTER_MEASURE_GENERATE_TIMES_H_

#include <cstdint>
#include <optional>

#include "measure/pass_times.h"

namespace bantam::convert {

struct GenerateWork {
  uint32_t prompt = 0;  // tokens; for encoder-decoders, of the source
  uint32_t generate = 16;
  uint32_t beams = 1;
};

/// Times in milliseconds.
struct GenerateTiming {
  TimeSpread all, first;
  std::optional<TimeSpread> next;  // per token after the first; none if only one is generated
  uint32_t calls = 0;
  uint32_t threads = 1;
  Isa isa = Isa::kReference;
  size_t arena = 0;  // bytes
};

/// Times calls that generate all tokens of `work` after random ids, ignoring end tokens. The file must generate text
/// and have room for that many tokens. Throws Error if the model cannot run.
GenerateTiming time_generating(const ModelFile& file, const TimeOptions& options, const GenerateWork& work);

/// Returns the bytes per second that one core reads. It reads as many bytes as a step does, from a copy, so that
/// nothing else interferes.
double read_rate(Isa isa, uint64_t bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_MEASURE_GENERATE_TIMES_H_
