// Options of `run` and its named variants, and the ways in which they read texts.
#ifndef BANTAM_CONVERTER_CLI_RUN_H_
#define BANTAM_CONVERTER_CLI_RUN_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/engine.h"
#include "run/predict.h"

namespace bantam::cli {

struct RunOptions {
  std::string command;  // "run", "classify", ...: names the schema of JSON objects
  std::string model;
  std::vector<std::string> texts;
  std::string file;
  std::vector<std::string> pairs;
  std::optional<std::string> question;
  std::optional<std::string> context;
  std::string ids;
  std::string segments;
  EngineOptions engine;
  std::optional<uint32_t> top;
  std::optional<uint32_t> stride;
  bool strict = false;
  bool raw = false;
  bool json = false;
  bool time = false;
  bool uart = false;
};

/// Answers every text, in order, in batches, as a stream. `wanted`: the task named on the command line, or kNone
/// for the file's own.
void run_texts(const RunOptions& options, TaskKind wanted);

/// run --ids: one forward pass over ids, every graph output as JSON.
void run_ids(const RunOptions& options);

/// run --uart: lines of standard input, answered as the firmware answers them, byte for byte.
void run_uart(const RunOptions& options);

/// similar: cosines of embeddings.
void run_similar(const RunOptions& options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_RUN_H_
