// Stored outputs of the original library for comparison (`--expect FILE.jsonl`).
#ifndef BANTAM_CONVERTER_SCORE_EXPECT_H_
#define BANTAM_CONVERTER_SCORE_EXPECT_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "score/compare.h"

namespace bantam::convert {

/// One line: an object with "ids"; optionally "text", "segments" (or "token_type_ids") and "marks"; for
/// encoder-decoders "decoder_ids"; and for each output, under its name, its values: [width] for the whole sequence,
/// [rows][width] for tokens, [rows] for token outputs of width 1. A leading dimension of 1 is dropped. "first_piece":
/// the rows that a token output's values refer to, if not all rows; there may be values for only the first few of them.
struct Expected {
  Sample sample;
  std::vector<uint32_t> rows;  // first_piece; empty: all rows
  struct Output {
    std::string name;
    std::vector<float> values;  // row-major
    std::vector<size_t> shape;
  };
  std::vector<Output> outputs;
};

/// Reads the file. `names`: the model's outputs; other fields are ignored. Throws Error (I/O, invalid) with the line
/// number.
std::vector<Expected> read_expected(const std::filesystem::path& file, const std::vector<std::string>& names);

/// Compares the outputs of `runner` with `expected`, line by line. `progress(done, all)` may be empty.
void compare_expected(Runner& runner, const std::vector<Expected>& expected, Comparer& comparer,
                      const std::function<void(size_t, size_t)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_EXPECT_H_
