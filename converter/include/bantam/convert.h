// convert_directory: converts a Hugging Face directory to a .bantam file, as `bantam convert` does.
#ifndef BANTAM_CONVERT_H_
#define BANTAM_CONVERT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bantam/outcome.h"

namespace bantam {

/// The options of `bantam convert`, with the same names ('_' for '-'), values and defaults. `bantam convert --help`
/// explains them.
struct ConversionOptions {
  std::string weights = "int8";         // int8, int4, ternary, f16, f32
  std::vector<std::string> keep;        // each REGEX=f32|f16|i8|i4|ternary
  std::string activations = "dynamic";  // dynamic, static
  std::string rounding = "nearest";     // nearest, gptq
  std::string residual = "f32";         // f32, i8
  uint32_t group = 32;                  // group size of int4 weights
  /// "": no budget; else a limit such as size=21MB, loss=0.003 or latency=0.4, which requires `sensitivity`.
  std::string budget;
  std::string sensitivity;              // a file written by `bantam sensitivity`
  std::string student;                  // "": the whole model; else a recipe file
  double prune = 0;                     // fraction of the weights to prune
  std::string pattern = "1x4";          // unstructured, 1x4, 2:4, 4x16, heads, ffn
  std::string prune_scope = "global";   // global, uniform
  std::string prune_by;                 // "": the default of the pattern; magnitude, activations
  std::string sparse = "auto";          // auto, never, always, smallest
  std::string plan;                     // "": the default for residual and activations; fast, small
  std::string calibrate;                // a file of calibration texts
  std::string calibrate_by = "minmax";  // for static activations: minmax, percentile, mse
  double percentile = 99.99;
  std::string calibrate_scores;  // a file of labeled texts
  /// Largest fraction of correct answers that calibrate_scores may reject as out of scope.
  double max_rejected = 0.01;
  std::string gate_data;  // a file of texts, labeled or not, on which the quality gate judges the result
  /// "": the texts of another option, or the built-in ones; all, none; else a file of texts.
  std::string parity;
  std::string expect;             // a file of stored reference outputs
  double max_label_flips = 0.02;  // fraction of the texts
  bool automatic = false;         // --auto: applies the cheapest remedy if the quality gate rejects the file
  uint32_t max_tokens = 0;        // 0: as many as the model supports
  bool ids_only = false;          // no tokenizer in the file; inputs are token ids
  std::string task;               // "": as the directory says
  std::string tag_scheme;         // "": inferred from the labels; plain, iob1, iob2, bioes
  std::string inputs;             // of a graph: "": inferred from names and types; else such as "ids=x,mask=m"
  /// The output to keep of a graph with several outputs; "": the usual one.
  std::string graph_output;
  /// How word labels become entities: none, simple, first, average, max, words; "": the default of the labels.
  std::string aggregation;
  // Longformer's global attention: "": as in transformers; none, first, question, second, marked
  std::string globals;
  /// Called with the current step and its progress in [0, 1]. Must not throw.
  std::function<void(const char* what, double done)> progress;
};

struct Conversion {
  uint64_t file_bytes = 0;
  std::string report;  // one JSON object, schema "bantam.convert/1"; also set if the quality gate failed
};

/// Reads the directory `source` and writes `output` completely or not at all. If the quality gate fails (code 6), it
/// writes no file. `result` may be null. Safe to call from several threads for different outputs.
Outcome convert_directory(const std::string& source, const std::string& output, const ConversionOptions& options = {},
                          Conversion* result = nullptr);

}  // namespace bantam

#endif  // BANTAM_CONVERT_H_
