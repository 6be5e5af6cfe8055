// Sample: one text as a model reads it.
#ifndef BANTAM_CONVERTER_DATA_SAMPLE_H_
#define BANTAM_CONVERTER_DATA_SAMPLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::convert {

/// Texts retrieved for a chunk, nearest first, as token ids.
using Neighbours = std::vector<std::vector<int32_t>>;

/// The ids of one sequence, and which of its rows represent text rather than special tokens.
struct Sample {
  std::string text;  // the text to show for it
  std::vector<int32_t> ids;
  std::vector<int32_t> segments;    // empty: all 0
  std::vector<bool> content;        // empty: every row
  std::vector<int32_t> marks = {};  // empty: all 0
  bool odd = false;  // unlike any text that the model is meant for: its labels are not compared (score/compare.h)
  /// The decoder's input of an encoder-decoder, whose source is `ids`; empty: the default of Runner::complete.
  std::vector<int32_t> decoder_ids = {};
  std::vector<float> features = {};  // for models that read features: one row after the other
  // For models that read retrieved texts: those of each chunk; empty: nothing is retrieved.
  std::vector<Neighbours> neighbours = {};
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_SAMPLE_H_
