// Sample: one text as a model reads it.
#ifndef BANTAM_CONVERTER_DATA_SAMPLE_H_
#define BANTAM_CONVERTER_DATA_SAMPLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::convert {

/// Texts retrieved for a chunk, nearest first, each as tokens.
using Neighbours = std::vector<std::vector<int32_t>>;

/// Ids of one sequence and which of its rows hold text (not special tokens).
struct Sample {
  std::string text;  // what to show for it
  std::vector<int32_t> ids;
  std::vector<int32_t> segments;    // empty: all 0
  std::vector<bool> content;        // empty: every row
  std::vector<int32_t> marks = {};  // empty: all 0
  bool odd = false;                 // like no text that the model is for: its labels judge nothing (score/compare.h)
  /// The decoder's input in an encoder-decoder, where `ids` are the source; empty: as Runner::complete says.
  std::vector<int32_t> decoder_ids = {};
  std::vector<float> features = {};         // of models that take them, rows one after the other
  std::vector<Neighbours> neighbours = {};  // of each chunk, of models that take them; empty: nothing is retrieved
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_SAMPLE_H_
