// Times from a text to its answer: tokenizer, forward pass, task head.
#ifndef BANTAM_CONVERTER_MEASURE_TEXT_TIMES_H_
#define BANTAM_CONVERTER_MEASURE_TEXT_TIMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/pass_times.h"

namespace bantam::convert {

/// Times of one text's runs, in microseconds.
struct TextTiming {
  std::string text;
  uint32_t tokens = 0;
  bool truncated = false;
  std::vector<double> tokenize, forward, task, total;
};

struct TextTimings {
  std::vector<TextTiming> texts;
  std::optional<probe::Cost> cost;  // with options.cost: per text, the mean over all
};

/// Times every text, with `pair` as the second text. The texts take turns, so that none finds the caches and branch
/// predictors as its own last run left them. `texts` must not be empty; the file must have a tokenizer and a task for
/// texts. Throws Error for a text that cannot be run.
TextTimings time_texts(Engine& engine, const TimeOptions& options, const std::vector<std::string>& texts,
                       const std::optional<std::string>& pair);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_MEASURE_TEXT_TIMES_H_
