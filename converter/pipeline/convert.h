// convert: the whole way from a source directory to a .bantam file, with report and quality gate.
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

/// dynamic: activations of int8 layers get their scales at run time, one per row. static: calibration fixes the scales,
/// and nothing between ids and outputs is a float.
enum class Activations { kDynamic, kStatic };

/// The rounding of integer weights: each to the nearest, or all weights of an output together so that the layer's
/// output is near (quantize/round.h).
enum class Rounding { kNearest, kGptq };

struct ConvertOptions {
  std::filesystem::path source;
  std::filesystem::path output;
  std::optional<Recipe> student;      // the layout to make of the source first
  std::string budget;                 // "": none; else types are chosen within it (quantize/budget.h)
  std::filesystem::path sensitivity;  // of the source, for `budget`
  TypeOptions types;
  Activations activations = Activations::kDynamic;
  Rounding rounding = Rounding::kNearest;
  RangeOptions ranges;  // of static activations
  PruneOptions prune;
  std::string calibrate;            // a file of texts; "": static activations want one, others take built-in texts
  uint32_t max_tokens = 0;          // 0: all positions of the model
  bool ids_only = false;            // leaves the tokenizer out
  std::string tower;                // of a directory of two models: "text" or "vision"
  std::string inputs;               // SourceOptions::inputs
  std::string graph_output;         // SourceOptions::output
  std::filesystem::path entities;   // names of those of the source's that the file keeps, one a line; "": all
  std::filesystem::path shortlist;  // of Marian's own directories; "": what lies there, "none": none
  std::string task;                 // "": what the source says
  std::string tag_scheme;           // "": guessed from the labels
  std::string aggregation;          // ImportOptions::aggregation
  std::string globals;              // ImportOptions::globals
  std::optional<unsigned> random_blocks;
  bool strict_source = false;  // refuses keys of the source's JSON that may change answers and that nothing reads
  /// The texts on which the file is compared with its f32 build: "": texts of another option, or the built-in ones that
  /// fit (gate_texts.h); "all": every built-in text; "none": no comparison; else a file of texts.
  std::string parity;
  std::filesystem::path gate_data;         // texts that judge the file, by their labels where they have some; "": none
  bool automatic = false;                  // take the cheapest remedy that passes the gate (remedies.h)
  std::filesystem::path calibrate_scores;  // labelled texts on which temperature and limit are fitted; "": none
  double max_rejected = 0.01;              // share of right answers that may be out of scope
  std::filesystem::path expect;            // "": none; else stored outputs (score/expect.h)
  double max_label_flips = 0.02;           // fraction of decisions; of labelled data: of right answers that are lost
  std::string tool = "bantam";             // name and version that the file states
  /// Called with the name of the current stage and its progress in [0, 1].
  std::function<void(const char* what, double done)> progress;

  /// Returns true if only one layer's keys and values live at a time: if the residual is int8, unless --plan says
  /// otherwise.
  bool small_plan() const {
    const bool fixed = activations == Activations::kStatic && types.plan == Plan::kByResidual;
    return fixed || types.small_plan();
  }
};

/// Writes `options.output` unless the gate failed (report.gate_failures then says why, report.gate.attempts which
/// options were tried, and no file is left). Throws Error for everything else.
Report convert(const ConvertOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_CONVERT_H_
