// The gate of one conversion: the f32 build, the texts, and what they say about the file, as often as one is made.
#ifndef BANTAM_CONVERTER_PIPELINE_GATE_H_
#define BANTAM_CONVERTER_PIPELINE_GATE_H_

#include <memory>
#include <vector>

#include "pipeline/convert.h"
#include "pipeline/gate_texts.h"

namespace bantam::convert {

class Gate {
 public:
  /// `graph`: of the source, which outlives the gate. Builds the f32 file when the first file is judged.
  Gate(const Graph& graph, const ConvertOptions& options);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Fills the report's comparisons, verdicts and failures. `what` is shown beside the progress. Throws Error as gate_texts
  /// and read_expected do.
  void judge(const FileBytes& file, const char* what, Report& report);

  /// That judge labels; empty before the first file, and where random ids judge.
  const std::vector<LabelledText>& texts() const { return texts_.texts; }

 private:
  void prepare();
  /// Texts in which the tokenizer finds no token, which a session refuses.
  void leave_out_empty_texts();
  Comparison compare_with_reference(const FileBytes& file, const char* what);
  Comparison compare_with_expected(const FileBytes& file);
  const std::vector<OutputRows>& reference(size_t sample);

  const Graph& graph_;
  const ConvertOptions& options_;
  GateTexts texts_;
  FileBytes reference_bytes_;
  std::unique_ptr<Runner> reference_;
  std::vector<Sample> samples_;
  std::vector<int64_t> labels_;
  std::vector<std::vector<OutputRows>> outputs_;  // of the first samples, as many as kMostKept holds
  std::vector<OutputRows> last_;
  size_t kept_bytes_ = 0;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_GATE_H_
