// convert_directory: from a Hugging Face directory to a .bantam file, as `bantam convert` does it.
#ifndef BANTAM_CONVERT_H_
#define BANTAM_CONVERT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bantam/outcome.h"

namespace bantam {

/// The options of `bantam convert` by their names there ('_' for '-'), with its words and its defaults; `bantam convert --help`
/// explains them.
struct ConversionOptions {
  std::string weights = "int8";         // int8, int4, f16, f32
  std::vector<std::string> keep;        // REGEX=f32|f16|i8|i4 each
  std::string activations = "dynamic";  // dynamic, static
  std::string rounding = "nearest";     // nearest, gptq
  std::string residual = "f32";         // f32, i8
  uint32_t group = 32;                  // of int4 weights
  std::string budget;                   // "": none; size=21MB, loss=0.003, latency=0.4; wants `sensitivity`
  std::string sensitivity;              // a file that `bantam sensitivity` wrote
  std::string student;                  // "": the whole model; else a recipe's file
  double prune = 0;                     // share
  std::string pattern = "1x4";          // unstructured, 1x4, 2:4, 4x16, heads, ffn
  std::string prune_scope = "global";   // global, uniform
  std::string prune_by;                 // "": what suits the pattern; magnitude, activations
  std::string sparse = "auto";          // auto, never, always, smallest
  std::string plan;                     // "": what suits residual and activations; fast, small
  std::string calibrate;                // a file of texts
  std::string calibrate_by = "minmax";  // minmax, percentile, mse: of static activations
  double percentile = 99.99;
  std::string calibrate_scores;   // a file of labelled texts
  double max_rejected = 0.01;     // share of right answers that may be out of scope then
  std::string gate_data;          // a file of texts, with labels or without, that judge the result
  std::string parity;             // "": texts of another option, or built-in ones; all, none; else a file of texts
  std::string expect;             // a file of stored outputs
  double max_label_flips = 0.02;  // fraction
  bool automatic = false;         // --auto: takes the cheapest remedy where the gate refuses the file
  uint32_t max_tokens = 0;        // 0: all that the model has
  bool ids_only = false;          // without tokenizer
  std::string task;               // "": what the directory says
  std::string tag_scheme;         // "": what the labels say; plain, iob1, iob2, bioes
  std::string inputs;             // of a graph: "": as names and types say; else such as "ids=x,mask=m"
  std::string graph_output;       // of a graph with several outputs, the one that the file gives; "": the usual one
  std::string aggregation;        // of labels of words: "": what suits them; none, simple, first, average, max, words
  std::string globals;            // Longformer: "": as transformers has them; none, first, question, second, marked
  /// Called with what is being done and how much of it, in [0, 1]. Must not throw.
  std::function<void(const char* what, double done)> progress;
};

struct Conversion {
  uint64_t file_bytes = 0;
  std::string report;  // one JSON object, schema "bantam.convert/1"; also when the quality gate failed
};

/// Reads the directory `source` and writes `output`, whole or not at all: not at all where the quality gate fails (code 6).
/// `result` may be null. Safe to call from several threads for different outputs.
Outcome convert_directory(const std::string& source, const std::string& output, const ConversionOptions& options = {},
                          Conversion* result = nullptr);

}  // namespace bantam

#endif  // BANTAM_CONVERT_H_
