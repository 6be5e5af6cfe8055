// Report: data about a conversion. The command line prints it; pipeline/report_json.h writes it as JSON.
#ifndef BANTAM_CONVERTER_PIPELINE_REPORT_H_
#define BANTAM_CONVERTER_PIPELINE_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/calibration.h"
#include "pack/build.h"
#include "score/compare.h"
#include "score/judge.h"
#include "source/keys.h"
#include "student/structured.h"
#include "student/student.h"

namespace bantam::convert {

/// All tensors of a class.
struct TensorClass {
  std::string name;   // embeddings, attention, ffn, heads, norms and biases
  std::string types;  // "i8", or "i8 + f32" when mixed
  uint32_t tensors = 0;
  uint64_t bytes_before = 0;  // in the source
  uint64_t bytes_after = 0;   // values, scales, sums
  float worst_error = 0;      // largest |stored - source|
  std::string worst_tensor;
};

struct ArenaSize {
  uint32_t tokens = 0;
  uint64_t bytes = 0;
};

/// The choice that --budget made.
struct BudgetReport {
  std::string budget;
  uint64_t file_bytes = 0;                                 // predicted
  double divergence = 0;                                   // predicted
  double latency = 1;                                      // predicted: fraction of the time of f32 linear layers
  std::vector<std::pair<std::string, std::string>> types;  // for each matrix
};

/// A remedy that was tried after the gate refused a file.
struct Attempt {
  std::string options;  // as typed, in addition to the given options
  uint64_t file_bytes = 0;
  bool passed = false;
  std::string problem;  // the first reason why it was refused
};

/// The result of the gate.
struct GateReport {
  std::string texts;  // "45 built-in texts (en, commands)"
  bool built_in = false;
  bool labelled = false;
  double limit = 0;                 // --max-label-flips
  std::vector<Verdict> verdicts;    // for the outputs: first against the f32 build, then against --expect
  std::vector<Attempt> attempts;    // in the order of the attempts, cheapest first
  std::string taken;                // the one that --auto chose; empty: none
  bool out_of_time = false;         // not all remedies were tried
  uint64_t refused_file_bytes = 0;  // size of the file that failed first; 0: none failed
};

struct Report {
  std::string source;
  std::string output;
  std::optional<StudentReport> student;       // with --student
  std::optional<StructureReport> structures;  // with --prune --pattern heads or ffn
  std::optional<BudgetReport> budget;         // with --budget
  std::optional<ScoreCalibration> scores;     // with --calibrate-scores
  std::string task;
  std::string weights;  // the requested type: i8, f16, f32
  uint64_t file_bytes = 0;
  uint64_t tokenizer_bytes = 0, shortlist_bytes = 0;
  uint64_t graph_bytes = 0;  // header, structure, names, labels, alignment
  std::vector<TensorClass> classes;
  std::vector<ArenaSize> arena;  // for one sequence and one worker, with 16, 64, 128 and the largest number of tokens
  std::vector<std::string> passes;
  std::vector<SourceKey> source_keys;  // unused keys that may change answers
  std::vector<std::string> notes;      // what was dropped or assumed
  std::vector<std::string> smaller;    // options that would make the file or the arena smaller
  Comparison parity;                   // against the f32 build; if not done(), it was omitted
  Comparison expected;                 // against --expect
  GateReport gate;
  std::vector<std::string> gate_failures;  // empty: passed, or nothing was compared
};

/// Returns the sizes, classes, arena, notes and suggestions of a finished build.
Report describe(const Built& built, const TypeOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_REPORT_H_
