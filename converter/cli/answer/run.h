// Options of `run` and its named variants, and the ways in which they read texts.
#ifndef BANTAM_CONVERTER_CLI_RUN_H_
#define BANTAM_CONVERTER_CLI_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text_positions.h"
#include "cli/answer/engine.h"
#include "run/predict.h"

namespace bantam::cli {

using convert::Input;
using convert::PositionUnit;
using convert::Prediction;
using convert::Predictor;

struct RunOptions {
  std::string command;  // "run", "classify", ...: names the schema of JSON objects
  std::string model;
  std::vector<std::string> texts;
  std::string file;
  std::vector<std::string> pairs;
  std::optional<std::string> question;
  std::optional<std::string> context;
  std::string ids;
  std::string decoder_ids;
  std::string segments;
  std::string marks;
  EngineOptions engine;
  std::optional<uint32_t> batch;  // --batch; none: what suits the texts
  std::optional<uint32_t> top;
  std::optional<uint32_t> stride;
  PositionUnit offsets = PositionUnit::kBytes;
  std::string output;  // of vectors: a .npy file
  bool query = false;  // of vectors: texts are queries, or documents
  bool document = false;
  uint32_t truncate_dim = 0;        // numbers of a vector that are kept; 0: all
  std::vector<std::string> labels;  // of files that find spans for them
  FindOptions find;
  Aggregation aggregation = Aggregation::kFile;
  bool strict = false;
  bool raw = false;
  bool json = false;
  bool time = false;
  bool uart = false;
  bool frame = false;  // pixels instead of answers
};

/// The name of the command whose answers are all `parts` (bits of Part): "run" where no other's are.
const char* command_for(uint32_t parts);
/// Returns true if `command`, one of add_run(), has some of the parts.
bool fits_command(const std::string& command, uint32_t parts);

/// Returns true if `command` is one of add_generate().
bool makes_text(const std::string& command);

/// Answers every text, in order, in batches, as a stream. `wanted`: the parts that the command is for, as bits of Part.
void run_texts(const RunOptions& options, uint32_t wanted);

/// run --ids: one forward pass over ids, every graph output as JSON.
void run_ids(const RunOptions& options);

/// run --uart: lines of standard input, answered as the firmware answers them, byte for byte.
void run_uart(const RunOptions& options);

/// run --frame: the pixels of each image as the line that a device, or --uart, takes.
void run_frames(const RunOptions& options);

/// similar: cosines of embeddings.
void run_similar(const RunOptions& options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_RUN_H_
