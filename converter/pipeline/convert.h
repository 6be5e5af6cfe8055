// convert: makes a .bantam file from a source directory, with a report and the quality gate.
#ifndef BANTAM_CONVERTER_PIPELINE_CONVERT_H_
#define BANTAM_CONVERTER_PIPELINE_CONVERT_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "pack/build.h"
#include "pipeline/report.h"
#include "prune/prune.h"
#include "quantize/static_ranges.h"
#include "student/recipe.h"

namespace bantam::convert {

/// kDynamic: activations of int8 layers get their scales at run time, one per row. kStatic: calibration fixes the
/// scales, and no values between ids and outputs are floats.
enum class Activations { kDynamic, kStatic };

/// How integer weights are rounded: each to the nearest value, or all weights of an output together, so that the
/// layer's output stays close (quantize/round.h).
enum class Rounding { kNearest, kGptq };

struct ConvertOptions {
  std::filesystem::path source;
  std::filesystem::path output;
  std::optional<Recipe> student;      // make a student of the source with this layout first
  std::string budget;                 // empty: none; otherwise types are chosen within the budget (quantize/budget.h)
  std::filesystem::path sensitivity;  // measured for the source, for `budget`
  TypeOptions types;
  Activations activations = Activations::kDynamic;
  Rounding rounding = Rounding::kNearest;
  RangeOptions ranges;  // for static activations
  PruneOptions prune;
  std::string calibrate;            // a file of texts; empty: an error for static activations; otherwise built-in texts
  uint32_t max_tokens = 0;          // 0: all positions of the model
  bool ids_only = false;            // omit the tokenizer
  std::string tower;                // for a directory with two models: "text" or "vision"
  std::string inputs;               // SourceOptions::inputs
  std::string graph_output;         // SourceOptions::output
  std::filesystem::path entities;   // names of the source's entities to keep, one per line; empty: all
  std::filesystem::path shortlist;  // for Marian's own directories; empty: the one in the directory; "none": none
  std::string task;                 // empty: the source's task
  std::string tag_scheme;           // empty: derived from the labels
  std::string aggregation;          // ImportOptions::aggregation
  std::string globals;              // ImportOptions::globals
  std::optional<unsigned> random_blocks;
  bool strict_source = false;  // refuse a source with unused JSON keys that may change answers
  /// The texts on which the file is compared with its f32 build. Empty: texts of another option, or the built-in ones
  /// that fit (gate_texts.h); "all": every built-in text; "none": no comparison; otherwise a file of texts.
  std::string parity;
  std::filesystem::path gate_data;         // texts to compare on, by their labels if they have any; empty: none
  bool automatic = false;                  // take the cheapest remedy that passes the gate (remedies.h)
  std::filesystem::path calibrate_scores;  // labeled texts for fitting temperature and limit; empty: none
  double max_rejected = 0.01;              // fraction of right answers that may become out of scope
  std::filesystem::path expect;            // empty: none; otherwise stored outputs (score/expect.h)
  double max_label_flips = 0.02;           // fraction of decisions; with labeled data, of right answers that are lost
  std::string tool = "bantam";             // name and version to write to the file
  /// Called with the name of the current stage and its progress in [0, 1].
  std::function<void(const char* what, double done)> progress;

  /// Returns true if the keys and values of only one layer exist at a time: with an int8 residual, unless --plan says
  /// otherwise.
  bool small_plan() const {
    const bool fixed = activations == Activations::kStatic && types.plan == Plan::kByResidual;
    return fixed || types.small_plan();
  }
};

/// Writes `options.output` unless the gate fails. In that case report.gate_failures gives the reasons,
/// report.gate.attempts the options that were tried, and no file is left. Throws Error for all other failures.
Report convert(const ConvertOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_CONVERT_H_
