// Options of `run` and its named variants, and the functions that read and answer texts.
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
  std::optional<uint32_t> batch;  // --batch; none: chosen to suit the texts
  std::optional<uint32_t> top;
  std::optional<uint32_t> stride;
  PositionUnit offsets = PositionUnit::kBytes;
  std::string output;  // a .npy file for vectors
  bool query = false;  // the texts to embed are queries; `document`: they are documents
  bool document = false;
  uint32_t truncate_dim = 0;        // the number of elements of a vector to keep; 0: all
  std::vector<std::string> labels;  // for files that find spans for given labels
  FindOptions find;
  Aggregation aggregation = Aggregation::kFile;
  bool strict = false;
  bool raw = false;
  bool json = false;
  bool time = false;
  bool uart = false;
  bool frame = false;  // print pixels instead of answers
};

/// Returns the name of the command whose answers have exactly `parts` (bits of Part); "run" if there is none.
const char* command_for(uint32_t parts);
/// Returns true if `command`, one of those that add_run() adds, has some of the parts.
bool fits_command(const std::string& command, uint32_t parts);

/// Returns true if `command` is one of those that add_generate() adds.
bool makes_text(const std::string& command);

/// Answers every text as a stream, in order and in batches. `wanted`: the parts that the command prints, as bits of
/// Part.
void run_texts(const RunOptions& options, uint32_t wanted);

/// run --ids: runs one forward pass over ids and prints every graph output as JSON.
void run_ids(const RunOptions& options);

/// run --uart: answers lines of standard input as the firmware does, byte for byte.
void run_uart(const RunOptions& options);

/// run --frame: prints the pixels of each image as the line that a device or --uart reads.
void run_frames(const RunOptions& options);

/// similar: prints cosines of embeddings.
void run_similar(const RunOptions& options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_RUN_H_
