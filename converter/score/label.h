// Bulk labelling: answers every record of a file, in shards whose concatenated outputs equal the whole's.
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
  std::string input;   // .jsonl, .csv, .tsv; else a text a line; "-": standard input
  std::string output;  // .csv of tables; else a JSON object a line
  uint32_t shard = 1;  // of `shards`, from 1: the records that begin in this part of the file's bytes
  uint32_t shards = 1;
  std::string text;           // field or column of the text; "": the usual names
  std::string pair;           // of the second text
  std::string as = "bantam";  // field of the answer
  OnError on_error = OnError::kStop;
  bool resume = false;
  EngineOptions engine;
  PredictOptions predict;
};

struct LabelResult {
  uint64_t records = 0;  // read; of all runs that made the output
  uint64_t failed = 0;
  uint64_t resumed = 0;  // that were there already
};

/// Writes options.output. The concatenated bytes are the same for any number of shards, and however often a run was
/// stopped. Calls `progress` with the number of finished records. Throws Error that names the line if a record stops
/// it.
LabelResult label_records(const ModelFile& file, const LabelOptions& options,
                          const std::function<void(uint64_t)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_LABEL_H_
