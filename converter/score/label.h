// Bulk labeling: answers every record of a file, in shards whose concatenated outputs equal the output for the whole
// file.
#ifndef BANTAM_CONVERTER_SCORE_LABEL_H_
#define BANTAM_CONVERTER_SCORE_LABEL_H_

#include <cstdint>
#include <functional>
#include <string>

#include "run/predict.h"

namespace bantam::convert {

/// The treatment of a record that cannot be answered.
enum class OnError : uint8_t { kStop, kKeep, kSkip };

struct LabelOptions {
  std::string input;   // as RecordReader reads it; "-": standard input
  std::string output;  // .csv for tables; otherwise one JSON object per line
  uint32_t shard = 1;  // 1 to `shards`: selects the records that begin in this part of the file's bytes
  uint32_t shards = 1;
  std::string text;           // field or column of the text; empty: the usual names
  std::string pair;           // field of the second text
  std::string as = "bantam";  // field for the answer
  OnError on_error = OnError::kStop;
  bool resume = false;
  EngineOptions engine;
  PredictOptions predict;
};

struct LabelResult {
  uint64_t records = 0;  // records read by all runs that wrote the output
  uint64_t failed = 0;
  uint64_t resumed = 0;           // records that the output already had
  bool already_complete = false;  // with `resume`: the output was there, so that nothing was done
};

/// Receives the number of finished records, and the share of the shard that they are, in [0, 1]; 0: unknown.
using LabelProgress = std::function<void(uint64_t done, double share)>;

/// Writes options.output. The concatenated bytes are the same for any number of shards, and however often a run was
/// interrupted. If a record stops it, throws Error with the line number.
LabelResult label_records(const ModelFile& file, const LabelOptions& options, const LabelProgress& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_LABEL_H_
